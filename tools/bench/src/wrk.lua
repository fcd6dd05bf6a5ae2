-- Arguments after "--": method, body, mean pause of a connection between its calls in milliseconds,
-- status and length of a good answer or nothing, then header names and values in turn.
wrong = 0
local thread
function setup(each) thread = each end
function init(args)
  wrk.method = args[1]
  if args[2] ~= '' then wrk.body = args[2] end
  local pause = tonumber(args[3])
  -- Of any length up to twice the mean, so that connections don't call in step.
  if pause > 0 then delay = function() return math.random(0, 2 * pause) end end
  local status, length = tonumber(args[4]), tonumber(args[5])
  if status then
    response = function(got, _, body)
      if got ~= status or #body ~= length then wrong = wrong + 1 end
    end
  end
  for i = 6, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout + thread:get('wrong')))
end
