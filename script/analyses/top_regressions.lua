-- @title What became slower between two runs, function by function
-- @profiles 2
-- @arg rows integer 20 Rows of the table
-- @arg scale boolean false Compare shares of the runs, so that a longer run is no regression

local before, after = profiles[1], profiles[2]
local metric = after.metric
if not before:has_metric(metric) then error("the first profile has no metric `" .. metric .. "`") end
local factor = 1
if args.scale and before:total(metric) ~= 0 then factor = after:total(metric) / before:total(metric) end

local old, new, where = {}, {}, {}
for _, f in ipairs(before:functions(metric)) do old[f.name] = (old[f.name] or 0) + f.self * factor end
for _, f in ipairs(after:functions(metric)) do
  new[f.name] = (new[f.name] or 0) + f.self
  where[f.name] = where[f.name] or f
end

local rows = {}
for name, value in pairs(new) do
  local change = value - (old[name] or 0)
  if change > 0 then rows[#rows + 1] = {name, old[name] or 0, value, change, old[name] and old[name] ~= 0 and 100 * change / old[name] or nil} end
end
table.sort(rows, function(a, b) return a[4] > b[4] end)
while #rows > args.rows do rows[#rows] = nil end
for _, row in ipairs(rows) do
  local f = where[row[1]]
  if f.file ~= "" and f.line > 0 then
    annotate(f.file, f.line, row[5] and ("%s: %+.1f %% since the run before"):format(metric, row[5]) or metric .. ": not in the run before")
  end
end
if #rows == 0 then
  print("nothing became slower")
else
  show_table {title = "Regressions", columns = {"function", {"before", after.unit}, {"after", after.unit}, {"change", after.unit}, {"growth", "%"}}, rows = rows}
end
