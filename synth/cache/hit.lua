-- The whole hit in one round trip: snapshot version, look-up, freshness, counter, audio.
-- KEYS: snapshot version, entry, audio
-- ARGV: the caller's snapshot version, max age (s), whether audio is wanted (1/0), the digest that the caller holds
-- Answers {status, meta, age, audio}; status: hit, miss, expired, stale (the caller must reload), reload (we must).
local version = redis.call('GET', KEYS[1])
if not version or tonumber(version) < tonumber(ARGV[1]) then
  return {'reload'}
end
if tonumber(version) > tonumber(ARGV[1]) then
  return {'stale'}
end
local entry = redis.call('HMGET', KEYS[2], 'meta', 'made', 'digest', 'pinned')
if not entry[1] then
  return {'miss'}
end
local now = redis.call('TIME')
local age = math.max(0, tonumber(now[1]) + tonumber(now[2]) / 1000000 - tonumber(entry[2]))
if age > tonumber(ARGV[2]) and entry[4] ~= '1' then
  return {'expired'}
end
redis.call('HINCRBY', KEYS[2], 'hits', 1)
local audio = false
if ARGV[3] == '1' and entry[3] ~= ARGV[4] then
  audio = redis.call('GET', KEYS[3])
end
return {'hit', entry[1], string.format('%.3f', age), audio}
