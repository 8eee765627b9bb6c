-- @title Where locks cost most: waiting and spinning, by the line that takes the lock
-- @profiles 1
-- @arg rows integer 20 Rows of the table
-- @arg more string "" A further name of a function that locks, as a Lua pattern

local patterns = {
  "^_*pthread_mutex_", "^_*pthread_rwlock_", "^_*pthread_spin_", "^_*pthread_cond_wait", "^_*lll_lock", "^futex", "_futex$", "sys_futex",
  "^sync%.%(%*Mutex%)", "^sync%.%(%*RWMutex%)", "^sync%.runtime_Sem", "^runtime%.sem", "^runtime%.lock", "^std::mutex::lock", "^std::unique_lock",
  "spin_lock", "mutex_lock", "rwsem_down", "^Unsafe_Park", "Unsafe%.park", "ObjectMonitor::", "LockSupport%.park", "^PyThread_acquire_lock", "take_gil",
}
if args.more ~= "" then patterns[#patterns + 1] = args.more end

local named = matcher(patterns)
local function locks(node) return named(node.name) end

local sums, first, all = {}, {}, 0
for node in profile:nodes() do
  if not node.is_root and locks(node) then
    -- The outermost frame of the lock, and who called it.
    local at, lock = node.parent, node
    local outer = true
    while not at.is_root do
      if locks(at) then outer = false end
      at = at.parent
    end
    if outer then
      local caller = lock.parent
      local key = caller.is_root and "(nobody)" or caller.name .. "\0" .. caller.file .. "\0" .. caller.line
      sums[key] = (sums[key] or 0) + node:total()
      first[key] = first[key] or {caller, lock.name}
      all = all + node:total()
    end
  end
end

local keys = {}
for key in pairs(sums) do
  if sums[key] ~= 0 then keys[#keys + 1] = key end
end
table.sort(keys, function(a, b) return sums[a] ~= sums[b] and sums[a] > sums[b] or sums[a] == sums[b] and a < b end)
local rows, total = {}, profile:total()
for i = 1, math.min(#keys, args.rows) do
  local caller, lock = first[keys[i]][1], first[keys[i]][2]
  local share = total ~= 0 and 100 * sums[keys[i]] / total or 0
  local file = caller.is_root and "" or caller.file:match("[^/]*$")
  rows[i] = {caller.is_root and "(nobody)" or caller.name, file ~= "" and file .. ":" .. caller.line or "", lock, sums[keys[i]], share}
  if not caller.is_root and caller.file ~= "" and caller.line > 0 then
    annotate(caller.file, caller.line, ("%s: %.1f %% of %s"):format(lock, share, profile.metric))
  end
end
print(("locks: %.1f %% of %s"):format(total ~= 0 and 100 * all / total or 0, profile.metric))
if #rows > 0 then
  show_table {title = "Locks by who takes them", rows = rows, columns = {"function", "line", "lock", {"cost", profile.unit}, {"share", "%"}}}
end
