-- Count characters of a request that comes another way than a look-up, or give back what one had that failed: once.
-- KEYS: account, a mark that is set when it is done; ARGV: characters (less than 0 to give back), how long the mark is
--   kept (s), then the name of each count and its quota (0: none)
-- Answers -2 when a count is not begun yet or of an earlier day, -1 when it is done, or the position of the quota that refuses, from 0.
if redis.call('EXISTS', KEYS[2]) == 1 then
  return -1
end
local characters = tonumber(ARGV[1])
local day = math.floor(tonumber(redis.call('TIME')[1]) / 86400)
if characters > 0 and tonumber(redis.call('HGET', KEYS[1], 'asked_on') or '0') ~= day then
  return -2
end
for position = 3, #ARGV, 2 do
  local count, quota = redis.call('HGET', KEYS[1], ARGV[position]), tonumber(ARGV[position + 1])
  if not count and characters > 0 then
    return -2
  end
  if characters > 0 and tonumber(count) + characters > quota then
    return (position - 3) / 2
  end
end
for position = 3, #ARGV, 2 do
  local count = redis.call('HGET', KEYS[1], ARGV[position])
  if count then
    redis.call('HSET', KEYS[1], ARGV[position], string.format('%.0f', math.max(0, tonumber(count) + characters)))
  end
end
redis.call('SET', KEYS[2], 1, 'EX', ARGV[2])
return -1
