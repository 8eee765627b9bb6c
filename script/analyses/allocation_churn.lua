-- @title What is allocated and freed again: bytes that did not stay, as a metric and by function
-- @profiles 1
-- @arg allocated string "alloc_space" The metric of all that was allocated
-- @arg live string "inuse_space" The metric of what was still there at the end
-- @arg rows integer 20 Rows of the table

for _, metric in ipairs {args.allocated, args.live} do
  if not profile:has_metric(metric) then
    error("the profile has no metric `" .. metric .. "`; the arguments `allocated` and `live` name those it has")
  end
end
local unit = ""
for _, metric in ipairs(profile.metrics) do
  if metric.name == args.allocated then unit = metric.unit end
end

-- Estimates of what is live can be above what was seen allocated: that is no churn.
local churn = (profile:self(args.allocated) - profile:self(args.live)):most(0)
profile:add_metric("churn", churn, unit)

local live = {}
for _, f in ipairs(profile:functions(args.live)) do live[f.name] = (live[f.name] or 0) + f.self end
local rows, seen = {}, {}
for _, f in ipairs(profile:functions(args.allocated)) do seen[f.name] = (seen[f.name] or 0) + f.self end
for name, allocated in pairs(seen) do
  local gone = allocated - (live[name] or 0)
  if gone > 0 then rows[#rows + 1] = {name, allocated, gone, 100 * gone / allocated} end
end
table.sort(rows, function(a, b) return a[3] > b[3] end)
while #rows > args.rows do rows[#rows] = nil end
print(("%.1f %% of what was allocated did not stay"):format(
  profile:total(args.allocated) ~= 0 and 100 * churn:sum() / profile:total(args.allocated) or 0))
show_table {title = "Allocation churn", rows = rows,
            columns = {"function", {"allocated", unit}, {"freed again", unit}, {"of its own", "%"}}}
