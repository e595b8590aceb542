-- Drop renditions whose copy here became wrong, and note up to which of the tenant's numbers that is done.
-- KEYS: purge number, then entry and audio keys; ARGV: the number that these follow on, the number up to which they go
-- Answers 0, with nothing done, when this Redis knows less: it is an older copy of itself, and needs the ones between.
local known = tonumber(redis.call('GET', KEYS[1]) or '0')
if known < tonumber(ARGV[1]) then
  return 0
end
for position = 2, #KEYS do
  redis.call('UNLINK', KEYS[position])
end
if known < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
