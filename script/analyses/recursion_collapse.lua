-- @title Recursion as one call: a function that is on the stack already becomes one with its first call
-- @profiles 1
-- @arg module string "" Modules alone whose name has this in it; otherwise all
-- @arg rows integer 20 Rows of the table

local function is_meant(node)
  return args.module == "" or node.module:find(args.module, 1, true) ~= nil
end

local function first_call(node)
  local found, name, module = nil, node.name, node.module
  local at = node.parent
  while not at.is_root do
    if at.name == name and at.module == module then found = at end
    at = at.parent
  end
  return found
end

local by_module, calls = {}, 0
profile:visit(function(node)
  if not is_meant(node) then return end
  local first = first_call(node)
  if first == nil then return end
  node:merge(first)
  calls = calls + 1
  local module = node.module == "" and "(unknown)" or node.module
  by_module[module] = (by_module[module] or 0) + node:self()
end)

local rows = {}
for module, value in pairs(by_module) do rows[#rows + 1] = {module, value} end
table.sort(rows, function(a, b) return a[2] > b[2] end)
while #rows > args.rows do rows[#rows] = nil end
print(calls == 1 and "1 recursive call became one with the first of its function" or
  calls .. " recursive calls became one with the first of their function")
if #rows > 0 then
  show_table {title = "Measured in recursive calls", columns = {"module", {"self", profile.unit}}, rows = rows}
end
