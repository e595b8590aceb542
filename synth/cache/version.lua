-- Raise a tenant's snapshot version. It never goes back, whatever order the writers come in.
-- KEYS: snapshot version; ARGV: the new one
local version = redis.call('GET', KEYS[1])
if not version or tonumber(version) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
end
return 1
