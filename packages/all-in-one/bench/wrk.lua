-- Arguments after "--": method, body, then header names and values in turn.
local failures = 0
function init(args)
  wrk.method = args[1]
  if args[2] ~= '' then wrk.body = args[2] end
  for i = 3, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
