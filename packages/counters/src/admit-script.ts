import { clock, creditFunctions } from './credits/scripts.ts';

/**
 * The whole admission in Redis, in one call. The arithmetic is that of memory.ts, in the same
 * doubles. KEYS: the counter of each check, then the four keys of the owner's credits where the call
 * is priced. ARGV: the time in epoch milliseconds ('' for Redis' own), the number of checks, limit,
 * window in milliseconds, calls to keep free and weight of each, then callId, millicredits wanted and needed,
 * how long to hold them, and the budgets. Answers: the wait in milliseconds (0 when allowed), the credits
 * reserved (0: too few, -1: the owner is not loaded, -2: not asked for, -3: more than a budget leaves), the
 * number of the budget that bounds them (0: none), then what remains and the milliseconds to the full limit
 * of each check.
 */
export const admitScript = `${clock}${creditFunctions}
local count = tonumber(ARGV[2])
local checks = {}
for i = 1, count do
  local key, limit, window = KEYS[i], tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  local keep = tonumber(ARGV[4 * i + 1])
  checks[i] = {
    key = key,
    limit = limit,
    window = window,
    keep = keep,
    calls = math.max(1, math.min(tonumber(ARGV[4 * i + 2]), limit - keep)),
    interval = limit > 0 and window / limit or 0,
    -- Theoretical arrival time of the next call: GCRA's only state.
    arrival = math.max(now, tonumber(redis.call('GET', key) or 0)),
  }
end

local function remaining(check)
  if check.limit == 0 then return 0 end
  local free = check.window - (check.arrival - now)
  -- The tolerance keeps sums of fractions of a millisecond from costing a call.
  return math.max(0, math.floor(free / check.interval + 1e-6) - check.keep)
end

local wait = 0
for _, check in ipairs(checks) do
  if check.limit == 0 then
    wait = math.max(wait, check.window)
  elseif remaining(check) < check.calls then
    local needed = check.interval * (check.calls + check.keep)
    wait = math.max(wait, math.ceil(check.arrival + needed - check.window - now), 1)
  end
end

local reserved, boundBy = -2, 0
if wait == 0 and #KEYS > count then
  local first = 4 * count + 3
  local id, want, least, ttl = unpack(ARGV, first, first + 3)
  local budgets = { unpack(ARGV, first + 4) }
  reserved, boundBy =
    reserve(creditsAt(count + 1), now, id, tonumber(want), tonumber(least), ttl, budgets)
end

if wait == 0 and reserved ~= -1 then
  for _, check in ipairs(checks) do
    check.arrival = check.arrival + check.calls * check.interval
    -- %.17g gives each double back as it was. A window after its last call a counter is full again.
    redis.call('SET', check.key, string.format('%.17g', check.arrival), 'PX', check.window)
  end
end

local answer = { wait, reserved, boundBy }
for _, check in ipairs(checks) do
  answer[#answer + 1] = remaining(check)
  answer[#answer + 1] = math.ceil(check.arrival - now)
end
return answer
`;
