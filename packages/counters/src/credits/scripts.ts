/**
 * Credits in Redis. Four keys an owner: a hash with `ledger` (balance), `month`, `seq` and `held` (sum), a
 * hash of amounts by callId, a sorted set of callIds by the time until which they are held, and a hash of
 * the budgets in which a call is reserved. What calls have taken of budgets stands in a hash for each
 * period; its name begins as theirs do, so that Redis Cluster finds it on the same node.
 */
export const creditFunctions = `
-- Longer than anything is held: what nobody touches for two days is loaded again.
local keepMs = 172800000
local keepDayMs, keepMonthMs = 172800000, 2764800000

local function creditsAt(first)
  return {
    balance = KEYS[first], amounts = KEYS[first + 1], times = KEYS[first + 2], places = KEYS[first + 3],
  }
end

-- A place is the key of a period without its owner, for example 'visitors:2026-11-27', and a name in it.
local function adjust(credits, places, change)
  for period, name in string.gmatch(places, '(%S+) (%S+)') do
    local key = credits.balance .. ':' .. period
    local taken = redis.call('HINCRBY', key, name, change)
    if taken <= 0 and string.find(period, '^visitors:') then redis.call('HDEL', key, name) end
    redis.call('PEXPIRE', key, string.find(period, '-%d%d%-') and keepDayMs or keepMonthMs)
  end
end

-- Holds the call no longer. Its budgets count what it used, or else what was held.
local function drop(credits, id, used)
  local amount = redis.call('HGET', credits.amounts, id)
  if not amount then return false end
  redis.call('HDEL', credits.amounts, id)
  redis.call('ZREM', credits.times, id)
  redis.call('HINCRBY', credits.balance, 'held', -amount)
  local places = redis.call('HGET', credits.places, id)
  if not places then return true end
  redis.call('HDEL', credits.places, id)
  if used and used ~= tonumber(amount) then adjust(credits, places, used - amount) end
  return true
end

local function hold(credits, id, amount, untilMs)
  redis.call('HSET', credits.amounts, id, amount)
  redis.call('ZADD', credits.times, untilMs, id)
  redis.call('HINCRBY', credits.balance, 'held', amount)
end

local function sweep(credits, now)
  local over = redis.call('ZRANGEBYSCORE', credits.times, '-inf', now, 'LIMIT', 0, 100)
  for _, id in ipairs(over) do drop(credits, id, 0) end
end

local function keep(credits)
  for _, key in pairs(credits) do redis.call('PEXPIRE', key, keepMs) end
end

-- What is reserved, 0 where too little is free, -1 where the owner or a project's use is not loaded, -3
-- where a budget leaves too little; then the number of the budget that bounds it, 0 where none does.
-- Budgets are three arguments each: place, limit ('' for a part of the month), part.
local function reserve(credits, now, id, want, least, ttl, budgets)
  sweep(credits, now)
  local ledger, held, opens, month =
    unpack(redis.call('HMGET', credits.balance, 'ledger', 'held', 'opens', 'month'))
  if not ledger or now < tonumber(opens or 0) then return -1, 0 end
  local amount, boundBy, places = want, 0, {}
  for i = 1, #budgets, 3 do
    local place = budgets[i]
    local period, name = string.match(place, '(%S+) (%S+)')
    local taken = redis.call('HGET', credits.balance .. ':' .. period, name)
    if not taken and string.find(period, '^project:') then return -1, 0 end
    local limit = tonumber(budgets[i + 1])
      or math.max(least, math.floor(tonumber(month or ledger) * tonumber(budgets[i + 2])))
    local left = limit - tonumber(taken or 0)
    if left < least then return -3, (i + 2) / 3 end
    if left < amount then amount, boundBy = left, (i + 2) / 3 end
    places[#places + 1] = place
  end
  local free = tonumber(ledger) - tonumber(held or 0)
  if free < least then return 0, 0 end
  if free < amount then amount, boundBy = free, 0 end
  hold(credits, id, amount, now + ttl)
  if #places > 0 then
    local all = table.concat(places, ' ')
    redis.call('HSET', credits.places, id, all)
    adjust(credits, all, amount)
  end
  keep(credits)
  return amount, boundBy
end

local function load(credits, balance, seq, month)
  local known = redis.call('HGET', credits.balance, 'seq')
  if known and tonumber(known) >= tonumber(seq) then return end
  redis.call('HSET', credits.balance, 'ledger', balance, 'seq', seq, 'month', month)
end

local function loadUse(credits, place, used)
  local period, name = string.match(place, '(%S+) (%S+)')
  if redis.call('HGET', credits.balance .. ':' .. period, name) then return end
  adjust(credits, place, used)
end
`;

/** The time as the caller states it, or Redis' own. */
export const clock = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + time[2] / 1000
end
`;

/** ARGV: time, callId, millicredits used, how long to hold them. */
export const settleScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
if drop(credits, ARGV[2], tonumber(ARGV[3])) and tonumber(ARGV[3]) > 0 then
  hold(credits, ARGV[2], ARGV[3], now + ARGV[4])
end
keep(credits)
`;

/**
 * ARGV: time, balance, seq, month, how long a new owner stays closed, the number of calls, callId and
 * millicredits of each that was booked, then place and millicredits of what projects have used.
 */
export const loadScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
local isNew = redis.call('HEXISTS', credits.balance, 'ledger') == 0
load(credits, ARGV[2], ARGV[3], ARGV[4])
if isNew and tonumber(ARGV[5]) > 0 then
  redis.call('HSET', credits.balance, 'opens', now + ARGV[5])
end
local lastCall = 6 + 2 * ARGV[6]
for i = 7, lastCall, 2 do drop(credits, ARGV[i], tonumber(ARGV[i + 1])) end
for i = lastCall + 1, #ARGV, 2 do loadUse(credits, ARGV[i], ARGV[i + 1]) end
keep(credits)
`;

/** ARGV: time, callId, millicredits, how long, places, 1 where it is settled. Holds again what Redis has lost. */
export const assertScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
local id, amount, places = ARGV[2], ARGV[3], ARGV[5]
if not redis.call('HGET', credits.amounts, id) then
  hold(credits, id, amount, now + ARGV[4])
  -- What projects have used comes from the ledger.
  for period, name in string.gmatch(places, '(visitors:%S+) (%S+)') do
    adjust(credits, period .. ' ' .. name, amount)
  end
  if places ~= '' and ARGV[6] ~= '1' then redis.call('HSET', credits.places, id, places) end
  keep(credits)
end
`;

/** ARGV: time, how many at most. Answers the sum, then ids and amounts in turn, oldest first. */
export const heldScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
sweep(credits, now)
local answer = { tonumber(redis.call('HGET', credits.balance, 'held') or 0) }
for _, id in ipairs(redis.call('ZRANGE', credits.times, 0, ARGV[2] - 1)) do
  answer[#answer + 1] = id
  answer[#answer + 1] = redis.call('HGET', credits.amounts, id)
end
return answer
`;
