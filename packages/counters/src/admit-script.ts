/**
 * The whole admission in Redis, in one call. The arithmetic is that of memory.ts, in the same
 * doubles. KEYS: the counter of each check. ARGV: the time in epoch milliseconds ('' for Redis' own),
 * then limit and window in milliseconds of each check. Answers: the wait in milliseconds (0 when
 * allowed), then what remains and the milliseconds to the full limit of each check.
 */
export const admitScript = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end

local checks = {}
for i, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  checks[i] = {
    key = key,
    limit = limit,
    window = window,
    interval = limit > 0 and window / limit or 0,
    -- Theoretical arrival time of the next call: GCRA's only state.
    arrival = math.max(now, tonumber(redis.call('GET', key) or 0)),
  }
end

local function remaining(check)
  if check.limit == 0 then return 0 end
  local free = check.window - (check.arrival - now)
  -- The tolerance keeps sums of fractions of a millisecond from costing a call.
  return math.floor(free / check.interval + 1e-6)
end

local wait = 0
for _, check in ipairs(checks) do
  if check.limit == 0 then
    wait = math.max(wait, check.window)
  elseif remaining(check) < 1 then
    wait = math.max(wait, math.ceil(check.arrival + check.interval - check.window - now), 1)
  end
end

if wait == 0 then
  for _, check in ipairs(checks) do
    check.arrival = check.arrival + check.interval
    -- %.17g gives each double back as it was. A window after its last call a counter is full again.
    redis.call('SET', check.key, string.format('%.17g', check.arrival), 'PX', check.window)
  end
end

local answer = { wait }
for _, check in ipairs(checks) do
  answer[#answer + 1] = remaining(check)
  answer[#answer + 1] = math.ceil(check.arrival - now)
end
return answer
`;
