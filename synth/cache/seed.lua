-- Begin a tenant's account, when Redis has none: what it counted today is known from the database.
-- KEYS: account, usage stream; ARGV: day, requests, hits, a name for this account, the consumer group
if redis.call('EXISTS', KEYS[1]) == 0 then
  -- Events that are still there, though the account is not, count as added and not yet taken out.
  redis.call('HSET', KEYS[1], 'day', ARGV[1], 'requests', ARGV[2], 'hits', ARGV[3], 'refused', 0,
    'events', redis.call('XLEN', KEYS[2]), 'taken', 0, 'lost', 0, 'name', ARGV[4])
end
redis.pcall('XGROUP', 'CREATE', KEYS[2], ARGV[5], '0', 'MKSTREAM')  -- an error: it is there
return 1
