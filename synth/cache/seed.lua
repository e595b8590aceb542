-- Begin a tenant's account, when Redis has none, and the counts of its quotas that it lacks: the database knows them.
-- KEYS: account, usage stream; ARGV: day, requests, hits, a name for this account, the consumer group; then for each count
--   its name, what the database knows, the key that it is of ('' for the tenant's), and when its day or month began (Unix
--   milliseconds)
if redis.call('EXISTS', KEYS[1]) == 0 then
  -- Events that are still there, though the account is not, count as added and not yet taken out.
  redis.call('HSET', KEYS[1], 'day', ARGV[1], 'requests', ARGV[2], 'hits', ARGV[3], 'refused', 0,
    'events', redis.call('XLEN', KEYS[2]), 'taken', 0, 'lost', 0, 'name', ARGV[4])
end
redis.pcall('XGROUP', 'CREATE', KEYS[2], ARGV[5], '0', 'MKSTREAM')  -- an error: it is there
if #ARGV > 5 then
  redis.call('HSETNX', KEYS[1], 'asked_on', ARGV[1])
  -- Hits that are not written down yet. The request is a list: its key's id is the second, its characters are the last.
  local waiting = redis.call('XRANGE', KEYS[2], '-', '+')
  for position = 6, #ARGV, 4 do
    local amount = tonumber(ARGV[position + 1])
    for _, event in ipairs(waiting) do
      local key, characters = string.match(event[2][2], '^%["[^"]*","([^"]*)",.*,(%d+)%]$')
      local at = tonumber(string.match(event[1], '^%d+'))
      if characters and at >= tonumber(ARGV[position + 3]) and (ARGV[position + 2] == '' or ARGV[position + 2] == key) then
        amount = amount + tonumber(characters)
      end
    end
    redis.call('HSETNX', KEYS[1], ARGV[position], string.format('%.0f', amount))
  end
end
return 1
