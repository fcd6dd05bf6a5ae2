/**
 * Credits in Redis. Three keys an owner: a hash with `ledger` (balance), `seq` and `held` (sum), a hash
 * of amounts by callId, and a sorted set of callIds by the time until which they are held.
 */
export const creditFunctions = `
-- Longer than anything is held: what nobody touches for two days is loaded again.
local keepMs = 172800000

local function creditsAt(first)
  return { balance = KEYS[first], amounts = KEYS[first + 1], times = KEYS[first + 2] }
end

local function drop(credits, id)
  local amount = redis.call('HGET', credits.amounts, id)
  if not amount then return false end
  redis.call('HDEL', credits.amounts, id)
  redis.call('ZREM', credits.times, id)
  redis.call('HINCRBY', credits.balance, 'held', -amount)
  return true
end

local function hold(credits, id, amount, untilMs)
  redis.call('HSET', credits.amounts, id, amount)
  redis.call('ZADD', credits.times, untilMs, id)
  redis.call('HINCRBY', credits.balance, 'held', amount)
end

local function sweep(credits, now)
  local over = redis.call('ZRANGEBYSCORE', credits.times, '-inf', now, 'LIMIT', 0, 100)
  for _, id in ipairs(over) do drop(credits, id) end
end

local function keep(credits)
  for _, key in pairs(credits) do redis.call('PEXPIRE', key, keepMs) end
end

-- What is reserved, 0 where too little is free, -1 where the owner is not loaded.
local function reserve(credits, now, id, want, least, ttl)
  sweep(credits, now)
  local ledger, held, opens = unpack(redis.call('HMGET', credits.balance, 'ledger', 'held', 'opens'))
  if not ledger or now < tonumber(opens or 0) then return -1 end
  local free = tonumber(ledger) - tonumber(held or 0)
  if free < least then return 0 end
  local amount = math.min(free, want)
  hold(credits, id, amount, now + ttl)
  keep(credits)
  return amount
end

local function load(credits, balance, seq)
  local known = redis.call('HGET', credits.balance, 'seq')
  if known and tonumber(known) >= tonumber(seq) then return end
  redis.call('HSET', credits.balance, 'ledger', balance, 'seq', seq)
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
if drop(credits, ARGV[2]) and tonumber(ARGV[3]) > 0 then
  hold(credits, ARGV[2], ARGV[3], now + ARGV[4])
end
keep(credits)
`;

/** ARGV: time, balance, seq, how long a new owner stays closed, then the callIds that were booked. */
export const loadScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
local isNew = redis.call('HEXISTS', credits.balance, 'ledger') == 0
load(credits, ARGV[2], ARGV[3])
if isNew and tonumber(ARGV[4]) > 0 then
  redis.call('HSET', credits.balance, 'opens', now + ARGV[4])
end
for i = 5, #ARGV do drop(credits, ARGV[i]) end
keep(credits)
`;

/** ARGV: time, callId, millicredits, how long. Holds again what Redis has lost. */
export const assertScript = `${clock}${creditFunctions}
local credits = creditsAt(1)
if not redis.call('HGET', credits.amounts, ARGV[2]) then
  hold(credits, ARGV[2], ARGV[3], now + ARGV[4])
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
