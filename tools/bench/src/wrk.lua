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
  local paths, keys, calls = {}, args[7], 0
  if args[6] ~= '' then for path in io.lines(args[6]) do paths[#paths + 1] = path end end
  if #paths > 0 or keys ~= '' then
    request = function()
      calls = calls + 1
      if keys ~= '' then wrk.headers['Idempotency-Key'] = keys .. calls end
      return wrk.format(nil, #paths > 0 and paths[math.random(#paths)] or nil)
    end
  end
  for i = 8, #args, 2 do wrk.headers[args[i]] = args[i + 1] end
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%d,"p99":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout + thread:get('wrong')))
end
