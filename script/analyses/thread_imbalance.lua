-- @title Threads that do more than others, and the functions that are uneven among them
-- @profiles 1
-- @arg threads string "" Threads alone whose name has this in it; otherwise all
-- @arg rows integer 20 Rows of each table

local by_thread, by_function, n = {}, {}, 0
for sample in profile:samples() do
  if sample.tid ~= nil and (args.threads == "" or sample.thread:find(args.threads, 1, true)) then
    local key = sample.tid < 0 and sample.thread or ("%s %d"):format(sample.thread, sample.tid)
    if by_thread[key] == nil then
      by_thread[key] = 0
      n = n + 1
    end
    local value, name = sample:value(), sample.node.name
    by_thread[key] = by_thread[key] + value
    by_function[name] = by_function[name] or {}
    by_function[name][key] = (by_function[name][key] or 0) + value
  end
end
if n == 0 then error("the samples of the profile have no threads") end

local sum, most, rows = 0, 0, {}
for key, value in pairs(by_thread) do
  sum = sum + value
  most = math.max(most, value)
  rows[#rows + 1] = {key, value}
end
local mean = sum / n
for _, row in ipairs(rows) do row[3] = mean ~= 0 and 100 * (row[2] / mean - 1) or 0 end
table.sort(rows, function(a, b) return a[2] > b[2] end)
while #rows > args.rows do rows[#rows] = nil end

-- What all others could have waited for the one that has most.
local uneven = {}
for name, values in pairs(by_function) do
  local total, largest, who = 0, 0, ""
  for key, value in pairs(values) do
    total = total + value
    if value > largest then largest, who = value, key end
  end
  local lost = largest - total / n
  if lost > 0 then uneven[#uneven + 1] = {name, total, largest, who, lost} end
end
table.sort(uneven, function(a, b) return a[5] > b[5] end)
while #uneven > args.rows do uneven[#uneven] = nil end

print(("%d thread%s; the busiest has %.1f %% more than the mean"):format(n, n == 1 and "" or "s", mean ~= 0 and 100 * (most / mean - 1) or 0))
show_table {title = "Threads", columns = {"thread", {profile.metric, profile.unit}, {"beside the mean", "%"}}, rows = rows}
if #uneven > 0 then
  show_table {title = "Uneven functions", rows = uneven,
              columns = {"function", {"all", profile.unit}, {"most", profile.unit}, "by", {"above the mean", profile.unit}}}
end
