-- The whole hit in one round trip: snapshot version, rate limits, look-up, freshness, counters, audio, usage event.
-- KEYS: snapshot version, the tenant's account; to look up also: usage stream, entry, audio, and after them the entry and
--   audio of the same as earlier versions of the model spoke it, the newest first
-- ARGV: numbers of the request, its key's id; to look up also: numbers of that, the digest that the caller holds, what
--   the usage event tells of the request, and what the audit's does beyond it. Numbers come packed as doubles: to unpack them costs less than to send each.
-- Answers {status, microseconds until the tenant's and the key's bucket are full ('' without one), meta, age, audio, which
--   entry it is, from 0}; and last, where there are quotas, a list of what is used of each.
-- Status: hit, stale_hit (old, or an earlier model's, but served while it is made anew), miss, expired, admitted (nothing
--   looked up), limited, exhausted (beyond a quota);
--   or with nothing done: outdated (the caller must reload), reload and unseeded (we must ask the database).

-- Of the request: the version of its snapshot, whether Redis is believed and whether it was counted before (1/0), the
-- steps (microseconds) and bursts of its tenant's and of its key's limit (0 without one), and in how many microseconds
-- their buckets are full at the earliest, by what was let in while this Redis was away.
local its_version, believed, counted, tenant_step, tenant_burst, key_step, key_burst, tenant_owed, key_owed =
  struct.unpack('<ddddddddd', ARGV[1])
local version = redis.call('GET', KEYS[1])
if believed == 0 or not version or tonumber(version) < its_version then
  return {'reload'}
end
if tonumber(version) > its_version then
  return {'outdated'}
end
local bucket_names = {'bucket', 'bucket:' .. ARGV[2]}
local account = redis.call('HMGET', KEYS[2], 'day', 'requests', 'hits', 'refused', 'events', unpack(bucket_names))
if not account[1] then
  return {'unseeded'}
end
local clock = redis.call('TIME')
local seconds = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

-- What is written at the end, in one go.
local day = math.floor(seconds / 86400)
local count = {}
for position, name in ipairs({'requests', 'hits', 'refused'}) do
  count[name] = tonumber(account[1]) == day and tonumber(account[position + 1]) or 0
end
local buckets = {}
local function keep(events)
  redis.call('HSET', KEYS[2], 'day', day, 'requests', count.requests, 'hits', count.hits, 'refused', count.refused,
    'events', events or account[5], unpack(buckets))
end
if tonumber(account[1]) ~= day then
  -- Once a day: the buckets of keys that are used no more. One that is full needs no number.
  local fields = redis.call('HGETALL', KEYS[2])
  for position = 1, #fields, 2 do
    if string.sub(fields[position], 1, 6) == 'bucket' and tonumber(fields[position + 1]) <= now then
      redis.call('HDEL', KEYS[2], fields[position])
    end
  end
end

-- Quotas of characters asked, where there are any: the tenant's of a day and of a month, the key's of both. To be told at
-- the end of ARGV[1]: the request's characters, each quota (0: none), what was let in of each while this Redis was away,
-- and numbers that change with the tenant's quotas and with the key's: a count that once stood still is not gone on with.
-- The counts have a day of their own, as an earlier version of this script knows nothing of them.
local used, asked, exhausted
if #ARGV[1] > 72 then
  local numbers = {struct.unpack('<ddddddddddd', ARGV[1], 73)}
  local of_tenant, of_key = '/' .. numbers[10], '/' .. numbers[11] .. ':' .. ARGV[2]
  local names = {'day_asked' .. of_tenant, 'month_asked' .. of_tenant, 'day_asked' .. of_key, 'month_asked' .. of_key}
  local counts = redis.call('HMGET', KEYS[2], 'asked_on', unpack(names))
  local asked_on = tonumber(counts[1] or day)
  if asked_on ~= day then
    -- Once a day. A count that has stood still since the last time is dropped; where it is asked for, it is begun anew.
    local function month_of(days)  -- a number that the days of one month share, and no others
      local shifted = days + 719468  -- since the first of March of the year 0
      local era = math.floor(shifted / 146097)
      local of_era = shifted - era * 146097
      local year = math.floor(
        (of_era - math.floor(of_era / 1460) + math.floor(of_era / 36524) - math.floor(of_era / 146096)) / 365)
      local of_year = of_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
      return (era * 400 + year) * 12 + math.floor((5 * of_year + 2) / 153)
    end
    local fields, is_new_month = redis.call('HGETALL', KEYS[2]), month_of(day) ~= month_of(asked_on)
    for position = 1, #fields, 2 do
      local name = fields[position]
      if string.sub(name, 1, 9) == 'day_asked' or (is_new_month and string.sub(name, 1, 11) == 'month_asked') then
        if fields[position + 1] == '0' then
          redis.call('HDEL', KEYS[2], name)
        else
          redis.call('HSET', KEYS[2], name, 0)
        end
      end
    end
    redis.call('HSET', KEYS[2], 'asked_on', day)
    counts = redis.call('HMGET', KEYS[2], 'asked_on', unpack(names))
  end
  used, asked, exhausted = {0, 0, 0, 0}, {}, false
  for position, name in ipairs(names) do
    if numbers[1 + position] > 0 then
      if not counts[1 + position] then
        return {'unseeded'}
      end
      used[position] = tonumber(counts[1 + position]) + numbers[5 + position]
      exhausted = exhausted or used[position] + numbers[1] > numbers[1 + position]
      asked[#asked + 1] = {name = name, position = position, characters = numbers[1]}
    end
  end
end

-- A bucket is known by the microsecond at which it is full again: whole numbers, so that rounding lets nobody in. One
-- limit that refuses leaves the other as it was.
local left = {'', ''}
if counted == 0 then
  local limits, admitted = {}, true
  for position, limit in ipairs({{tenant_step, tenant_burst, tenant_owed}, {key_step, key_burst, key_owed}}) do
    local step, burst, owed = limit[1], limit[2], limit[3]
    if step > 0 then
      local full_at = math.min(math.max(tonumber(account[5 + position] or 0), now + owed), now + step * burst)
      limits[position] = {step = step, full_at = full_at, owed = owed}
      admitted = admitted and full_at + step <= now + step * burst
    end
  end
  for position, limit in pairs(limits) do
    if admitted and not exhausted then
      limit.full_at = limit.full_at + limit.step
    end
    if admitted or limit.owed > 0 then
      buckets[#buckets + 1] = bucket_names[position]
      buckets[#buckets + 1] = string.format('%.0f', limit.full_at)
    end
    left[position] = string.format('%.0f', limit.full_at - now)
  end
  if not admitted then
    count.refused = count.refused + 1
    keep()
    return {'limited', left[1], left[2]}
  end
  count.requests = count.requests + (exhausted and 0 or 1)
end
if asked then
  for _, item in ipairs(asked) do
    used[item.position] = used[item.position] + (exhausted and 0 or item.characters)
    buckets[#buckets + 1] = item.name
    buckets[#buckets + 1] = string.format('%.0f', used[item.position])
  end
end
if exhausted then
  count.refused = count.refused + 1
  keep()
  return {'exhausted', left[1], left[2], used}
end
if not KEYS[3] then
  keep()
  return {'admitted', left[1], left[2], used}
end

-- Of the look-up: max age, max age while hot, hits that make it hot, their window, the further age at which the old
-- sound is served (all in seconds), whether audio is wanted (1/0), how many events the stream may hold.
local max_age, hot_max_age, hot_hits, hot_window, stale, want_audio, max_events = struct.unpack('<ddddddd', ARGV[3])
-- Hot or not, by the hits of a sliding window: those of the present span, and the last one's as far as they reach in.
local spans = hot_hits > 0 and seconds / hot_window or 0
local span = math.floor(spans)
local function look(name)
  local entry = redis.call('HMGET', name, 'meta', 'made', 'digest', 'pinned', 'duration', 'window', 'now', 'before')
  if not entry[1] then
    return 'miss'
  end
  local its_max_age, in_this, in_last = max_age, 0, 0
  if hot_hits > 0 then
    if tonumber(entry[6]) == span then
      in_this, in_last = tonumber(entry[7]), tonumber(entry[8])
    elseif tonumber(entry[6]) == span - 1 then
      in_last = tonumber(entry[7])
    end
    if in_this + in_last * (1 - (spans - span)) >= hot_hits then
      its_max_age = hot_max_age
    end
  end
  local age = math.max(0, seconds - tonumber(entry[2]))
  local status = 'hit'
  if age > its_max_age and entry[4] ~= '1' then
    if age > its_max_age + stale then
      return 'expired'
    end
    status = 'stale_hit'
  end
  return status, entry, age, in_this, in_last
end

local place = 4
local status, entry, age, in_this, in_last = look(KEYS[place])
local missed = status
while not entry and KEYS[place + 2] do
  place = place + 2
  status, entry, age, in_this, in_last = look(KEYS[place])
  status = 'stale_hit'
end
if not entry then
  keep()
  return {missed, left[1], left[2], used}
end

redis.call('HINCRBY', KEYS[place], 'hits', 1)
if hot_hits > 0 then
  redis.call('HSET', KEYS[place], 'window', span, 'now', in_this + 1, 'before', in_last)
end
count.hits = count.hits + 1
keep(tonumber(account[5]) + 1)
redis.call('XADD', KEYS[3], 'MAXLEN', '~', max_events, '*', 'r', ARGV[5], 'd', entry[5] or '', 'o', status,
  'a', ARGV[6] or '', 'e', string.match(entry[1], '"id":"([^"]*)"') or '')
local audio = false
if want_audio == 1 and entry[3] ~= ARGV[4] then
  audio = redis.call('GET', KEYS[place + 1])
end
return {status, left[1], left[2], entry[1], string.format('%.3f', age), audio, (place - 4) / 2, used}
