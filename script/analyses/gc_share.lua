-- @title Garbage collection by who caused it: what allocates, or asks for a collection
-- @profiles 1
-- @arg rows integer 20 Rows of the table
-- @arg more string "" A further name of a function that collects, as a Lua pattern

local patterns = {
  "^runtime%.gc", "^runtime%.%(%*gc", "^runtime%.bgsweep", "^runtime%.bgscavenge", "^runtime%.scanobject", "^runtime%.markroot",
  "^runtime%.greyobject", "^%(garbage collector%)", "GarbageCollect", "^gc_collect", "^_?PyGC_", "^collect$", "^GC_",
  "G1.*Collect", "Parallel.*GC", "^ZGC", "^caml_major", "^caml_minor",
}
if args.more ~= "" then patterns[#patterns + 1] = args.more end

local function collects(node)
  if node.kind == "gc" then return true end
  local name = node.name
  for _, pattern in ipairs(patterns) do
    if name:find(pattern) then return true end
  end
  return false
end

local all, by_caller, own = 0, {}, {}
for node in profile:nodes() do
  if not node.is_root and collects(node) then
    all = all + node:self()
    -- Whoever calls the outermost frame of the collector.
    local caller, at = nil, node.parent
    while not at.is_root do
      if collects(at) then caller = nil elseif caller == nil then caller = at end
      at = at.parent
    end
    local name = caller and caller.name or "(the collector's own threads)"
    by_caller[name] = (by_caller[name] or 0) + node:self()
  end
end
for _, f in ipairs(profile:functions()) do own[f.name] = (own[f.name] or 0) + f.total end

local rows, total = {}, profile:total()
for name, value in pairs(by_caller) do
  if value ~= 0 then
    rows[#rows + 1] = {name, value, all ~= 0 and 100 * value / all or 0, own[name] and own[name] ~= 0 and 100 * value / own[name] or nil}
  end
end
table.sort(rows, function(a, b) return a[2] > b[2] end)
while #rows > args.rows do rows[#rows] = nil end
print(("garbage collection: %.1f %% of %s"):format(total ~= 0 and 100 * all / total or 0, profile.metric))
if #rows > 0 then
  show_table {title = "Garbage collection by caller", rows = rows,
              columns = {"caller", {"collection", profile.unit}, {"of all collection", "%"}, {"of the caller", "%"}}}
end
