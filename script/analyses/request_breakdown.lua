-- @title Cost by request: a row for each value of a label, with its hottest function
-- @profiles 1
-- @arg label string "request" The label that names the request
-- @arg rows integer 20 Rows of the table

local sums, counts, functions = {}, {}, {}
local unlabelled = 0
for sample in profile:samples() do
  local value, label = sample:value(), sample:label(args.label)
  if label == nil then
    unlabelled = unlabelled + value
  else
    label = tostring(label)
    sums[label] = (sums[label] or 0) + value
    counts[label] = (counts[label] or 0) + 1
    functions[label] = functions[label] or {}
    local name = sample.node.name
    functions[label][name] = (functions[label][name] or 0) + value
  end
end

local rows, total = {}, profile:total()
for label, value in pairs(sums) do
  local hottest, most = "", -math.huge
  for name, own in pairs(functions[label]) do
    if own > most then hottest, most = name, own end
  end
  rows[#rows + 1] = {label, value, total ~= 0 and 100 * value / total or 0, counts[label], hottest, value ~= 0 and 100 * most / value or 0}
end
if #rows == 0 then error("no sample has a label `" .. args.label .. "`") end
table.sort(rows, function(a, b) return a[2] > b[2] end)
local n = #rows
while #rows > args.rows do rows[#rows] = nil end
print(("%d values of %s; %.1f %% of %s has none"):format(n, args.label, total ~= 0 and 100 * unlabelled / total or 0, profile.metric))
show_table {title = "By " .. args.label, rows = rows,
            columns = {args.label, {profile.metric, profile.unit}, {"share", "%"}, "samples", "hottest function", {"of the request", "%"}}}
