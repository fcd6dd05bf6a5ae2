-- Arguments after "--": method, a file of the body or nothing, mean pause of a connection between its calls in milliseconds,
-- status and length of a good answer or nothing, a file of paths or nothing, what an Idempotency-Key of
-- its own for each call begins with or nothing, then header names and values in turn.
wrong = 0
local thread
function setup(each) thread = each end
function init(args)
  wrk.method = args[1]
  if args[2] ~= '' then wrk.body = io.open(args[2], 'rb'):read('*a') end
  local pause = tonumber(args[3])
  -- Of any length up to twice the mean, so that connections don't call in step.
  if pause > 0 then delay = function() return math.random(0, 2 * pause) end end
  local status, length = tonumber(args[4]), tonumber(args[5])
  if status then
    response = function(got, _, body)
      if got ~= status or #body ~= length then wrong = wrong + 1 end
    end
  end
  for i = 8, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
  local paths, keys = {}, args[7]
  if args[6] ~= '' then for path in io.lines(args[6]) do paths[#paths + 1] = path end end
  -- What is alike in all calls is written once: the client takes CPU of the machine that it measures.
  if keys == '' and #paths < 2 then
    wrk.path = paths[1] or wrk.path
    return
  end
  local calls, heads, tails = 0, {}, {}
  if keys ~= '' then wrk.headers['Idempotency-Key'] = keys end
  for i = 1, math.max(1, #paths) do
    local text = wrk.format(nil, paths[i])
    local _, last = text:find(keys, 1, true)
    heads[i], tails[i] = text:sub(1, last), text:sub(last + 1)
  end
  request = function()
    calls = calls + 1
    local i = math.random(#heads)
    return keys == '' and tails[i] or heads[i] .. calls .. tails[i]
  end
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout + thread:get('wrong')))
end
