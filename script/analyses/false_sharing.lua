-- @title Pairs of places that touch the same memory: false sharing, races, reuse
-- @profiles 1
-- @arg kind string "" Records of this kind alone, as the profiler calls them; otherwise all
-- @arg value string "" Their number that is summed up; otherwise the first, or how many there are
-- @arg rows integer 20 Rows of the table

local function place(node)
  if node == nil then return "(none)" end
  local file = node.file:match("[^/]*$")
  return file ~= "" and node.line > 0 and ("%s (%s:%d)"):format(node.name, file, node.line) or node.name
end

local sums, places, n = {}, {}, 0
for record in profile:records() do
  if args.kind == "" or record.kind == args.kind then
    n = n + 1
    local sides, value = {}, nil
    for _, node in pairs(record.nodes) do sides[#sides + 1] = node end
    for name, number in pairs(record.values) do
      if args.value == name or (args.value == "" and value == nil) then value = number end
    end
    for i = 1, #sides do
      for j = i + 1, #sides do
        local a, b = place(sides[i]), place(sides[j])
        if b < a then a, b = b, a end
        local key = record.kind .. "\0" .. a .. "\0" .. b
        if sums[key] == nil then
          sums[key] = 0
          places[key] = {record.kind, a, b, sides[i], sides[j], 0}
        end
        sums[key] = sums[key] + (value or 1)
        places[key][6] = places[key][6] + 1
      end
    end
  end
end

if n == 0 then
  print("the profile has no records that tie two places to the same memory")
  return
end
local keys = {}
for key in pairs(sums) do keys[#keys + 1] = key end
table.sort(keys, function(a, b) return sums[a] ~= sums[b] and sums[a] > sums[b] or sums[a] == sums[b] and a < b end)
local rows = {}
for i = 1, math.min(#keys, args.rows) do
  local pair = places[keys[i]]
  rows[i] = {pair[1], pair[2], pair[3], sums[keys[i]], pair[6]}
  for _, node in ipairs {pair[4], pair[5]} do
    if node.file ~= "" and node.line > 0 then
      annotate(node.file, node.line, ("%s with %s: %s"):format(pair[1], node == pair[4] and pair[3] or pair[2], sums[keys[i]]))
    end
  end
end
show_table {title = "Pairs", columns = {"kind", "one", "other", "sum", "records"}, rows = rows}
