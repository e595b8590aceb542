-- Usage events are in the database: take them out of the stream, and see whether any were cut before they were read.
-- KEYS: usage stream, account; ARGV: the consumer group, then the events' ids
-- Answers {events lost that nobody has told of, events lost that were told of, the account's name}. While some are in
-- another reader's hands nothing is known, and the first is 0.
local ids = {unpack(ARGV, 2)}
local taken = redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
redis.call('XDEL', KEYS[1], unpack(ids))
if redis.call('EXISTS', KEYS[2]) == 0 then
  return {0, 0, ''}
end
taken = redis.call('HINCRBY', KEYS[2], 'taken', taken)
local account = redis.call('HMGET', KEYS[2], 'events', 'lost', 'name')
if redis.call('XPENDING', KEYS[1], ARGV[1])[1] > 0 then
  return {0, tonumber(account[2]), account[3]}
end
local lost = tonumber(account[1]) - taken - tonumber(account[2]) - redis.call('XLEN', KEYS[1])
return {lost, tonumber(account[2]), account[3]}
