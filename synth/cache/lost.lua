-- The database knows of lost events: note it, unless another reader has done so.
-- KEYS: account; ARGV: how many were told of before, how many more are now
if redis.call('HGET', KEYS[1], 'lost') == ARGV[1] then
  redis.call('HINCRBY', KEYS[1], 'lost', ARGV[2])
end
return 1
