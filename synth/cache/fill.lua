-- Put a rendition into the cache, unless a newer one is there: a slow writer must not undo a refresh.
-- Nor does it bring back what was purged after it had read the rendition's row.
-- KEYS: entry, audio, purge number
-- ARGV: meta, made (Unix s), digest, expiry (s), audio ('' when it is too large), the purge number that it knew, pinned,
--   duration (s)
if tonumber(redis.call('GET', KEYS[3]) or '0') > tonumber(ARGV[6]) then
  return 0
end
local entry = redis.call('HMGET', KEYS[1], 'made', 'digest')
if entry[1] and tonumber(entry[1]) > tonumber(ARGV[2]) then
  return 0
end
redis.call('HSET', KEYS[1], 'meta', ARGV[1], 'made', ARGV[2], 'digest', ARGV[3], 'pinned', ARGV[7],
  'duration', ARGV[8])
redis.call('EXPIRE', KEYS[1], ARGV[4])
if ARGV[5] ~= '' then
  redis.call('SET', KEYS[2], ARGV[5], 'EX', ARGV[4])
elseif entry[2] == ARGV[3] then
  redis.call('EXPIRE', KEYS[2], ARGV[4])  -- the bytes that are there are the right ones
else
  redis.call('DEL', KEYS[2])
end
return 1
