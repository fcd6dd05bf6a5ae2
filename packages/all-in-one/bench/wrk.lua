-- Arguments after "--": method, body, mean pause of a connection between its calls in milliseconds,
-- then header names and values in turn.
local failures = 0
function init(args)
  wrk.method = args[1]
  if args[2] ~= '' then wrk.body = args[2] end
  local pause = tonumber(args[3])
  -- Of any length up to twice the mean, so that connections don't call in step.
  if pause > 0 then delay = function() return math.random(0, 2 * pause) end end
  for i = 4, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
