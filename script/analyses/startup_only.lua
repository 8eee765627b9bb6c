-- @title Start-up alone: what was measured in the first seconds, as a metric and by function
-- @profiles 1
-- @arg seconds number 1 How long start-up is
-- @arg rows integer 20 Rows of the table

local first
for sample in profile:samples() do
  local time = sample.time
  if time and (first == nil or time < first) then first = time end
end
if first == nil then error("the samples of the profile have no times") end

local last, by_node, untimed = first + args.seconds * 1e9, {}, 0
for sample in profile:samples() do
  local time = sample.time
  if time == nil then
    untimed = untimed + 1
  elseif time < last then
    local id = sample.node.id
    by_node[id] = (by_node[id] or 0) + sample:value()
  end
end
local column = profile:self():map(function(_, id) return by_node[id] or 0 end)
profile:add_metric(profile.metric .. " of start-up", column, profile.unit)

local by_name = {}
for node in profile:nodes() do
  local value = by_node[node.id]
  if value then by_name[node.name] = (by_name[node.name] or 0) + value end
end
local rows, sum = {}, column:sum()
for name, value in pairs(by_name) do rows[#rows + 1] = {name, value, sum ~= 0 and 100 * value / sum or 0} end
table.sort(rows, function(a, b) return a[2] > b[2] end)
while #rows > args.rows do rows[#rows] = nil end
print(("the first %g s: %.1f %% of %s"):format(args.seconds, profile:total() ~= 0 and 100 * sum / profile:total() or 0, profile.metric))
if untimed > 0 then print(untimed .. " samples have no time and are left out") end
show_table {title = "Start-up", columns = {"function", {"self", profile.unit}, {"of start-up", "%"}}, rows = rows}
