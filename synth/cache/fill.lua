-- Put a rendition into the cache, unless a newer one is there: a slow writer must not undo a refresh.
-- KEYS: entry, audio
-- ARGV: meta, made (Unix s), digest, expiry (s), audio ('' when it is too large)
local made = redis.call('HGET', KEYS[1], 'made')
if made and tonumber(made) > tonumber(ARGV[2]) then
  return 0
end
redis.call('HSET', KEYS[1], 'meta', ARGV[1], 'made', ARGV[2], 'digest', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
if ARGV[5] == '' then
  redis.call('DEL', KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[5], 'EX', ARGV[4])
end
return 1
