-- @title What does not scale: two runs with few and with many workers, function by function
-- @profiles 2
-- @arg few integer 1 Workers of the first run
-- @arg many integer 2 Workers of the second run
-- @arg weak boolean false The second run had as much more to do as it had workers
-- @arg rows integer 20 Rows of the table

local few, many = profiles[1], profiles[2]
if args.few < 1 or args.many < 1 then error("a run has at least one worker") end
local metric = few.metric
if not many:has_metric(metric) then error("the second profile has no metric `" .. metric .. "`") end

-- All workers together: where work scales it costs in sum what it cost before.
local expected = args.weak and args.many / args.few or 1
local before = {}
for _, f in ipairs(few:functions(metric)) do before[f.name] = (before[f.name] or 0) + f.self * expected end
local after = {}
for _, f in ipairs(many:functions(metric)) do after[f.name] = (after[f.name] or 0) + f.self end

local all, rows = many:total(metric), {}
for name, value in pairs(after) do
  local loss = value - (before[name] or 0)
  if loss > 0 then rows[#rows + 1] = {name, before[name] or 0, value, loss, all ~= 0 and 100 * loss / all or 0} end
end
table.sort(rows, function(a, b) return a[4] > b[4] end)
while #rows > args.rows do rows[#rows] = nil end
local sum = all - few:total(metric) * expected
print(("%d workers need %.1f %% more %s than %d would that scale"):format(
  args.many, all - sum ~= 0 and 100 * sum / (all - sum) or 0, metric, args.few))
show_table {title = "Scaling loss", rows = rows,
            columns = {"function", {"expected", few.unit}, {"measured", few.unit}, {"loss", few.unit}, {"of the run", "%"}}}
