-- @title Garbage collection by who caused it: what allocates, or asks for a collection
-- @profiles 1
-- @arg rows integer 20 Rows of the table
-- @arg more string "" A further name of a function that collects, as a Lua pattern

local patterns = {
  "^runtime%.gc%u", "^runtime%.GC$", "^runtime%.%(%*gc", "^gcWriteBarrier", "^runtime%.bgsweep", "^runtime%.bgscavenge", "^runtime%.sweepone",
  "^runtime%.scanobject$", "^runtime%.scanblock$", "^runtime%.scanstack$", "^runtime%.scanframeworker$", "^runtime%.scanConservative$",
  "^runtime%.scanSpan", "^runtime%.tryDeferToSpanScan", "^runtime%.tryStealSpan", "^runtime%.objptrsToMarkBits", "^runtime%.spanHeapBitsRange",
  "^runtime%.finishsweep_m", "^runtime%.deductSweepCredit", "^runtime%.clearpools", "^runtime%.markroot", "^runtime%.greyobject", "^runtime%.shade$", "^runtime%.wbBufFlush", "^runtime%.wbMove",
  "^runtime%.bulkBarrier", "^runtime%.%(%*mspan%)%.%w*[sS]weep", "^runtime%.%(%*sweepLocke[dr]%)", "^runtime%.%(%*mheap%)%.reclaim",
  "^runtime%.%(%*spanQueue%)", "^internal/runtime/gc", "^%(garbage collector%)", "GarbageCollect", "^gc_collect", "^_?PyGC_",
  "^collect$", "^GC_", "G1.*Collect", "Parallel.*GC", "^ZGC", "^caml_major", "^caml_minor",
}
if args.more ~= "" then patterns[#patterns + 1] = args.more end

local named = matcher(patterns)
local function collects(node) return node.kind == "gc" or named(node.name) end

-- What the collector calls is a part of it, so that this is what a filter by the kind `gc` keeps. By node: who called the
-- outermost frame of the collector on its path; nothing where there is none.
local all, by_caller, own, caller_of = 0, {}, {}, {}
for node in profile:nodes() do
  if not node.is_root then
    local caller = caller_of[node.parent.id]
    if caller == nil and collects(node) then caller = node.parent.is_root and "(the collector's own threads)" or node.parent.name end
    caller_of[node.id] = caller
    if caller ~= nil then
      all = all + node:self()
      by_caller[caller] = (by_caller[caller] or 0) + node:self()
    end
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
