-- @title Who holds locks that others wait for, and who waits: a mutex and a block profile of one run of a Go program
-- @profiles 2
-- @arg rows integer 10 Rows of each table
-- @arg metric string "" What is summed up; otherwise `delay`, or what each profile shows by default

local unlocks = matcher {"^sync%.%(%*R?W?Mutex%)%.R?Unlock", "^internal/sync%.%(%*Mutex%)%.[uU]nlock", "^runtime%.unlock", "^runtime%._LostContendedRuntimeLock$"}
local locks = matcher {"^sync%.%(%*R?W?Mutex%)%.R?Lock", "^internal/sync%.%(%*Mutex%)%.[lL]ock", "^runtime%.lock"}
-- What locks on somebody's behalf: who calls it is asked about.
local helps = matcher {"^sync%.", "^internal/sync%.", "^runtime%."}

local function metric_of(of)
  if args.metric ~= "" then return args.metric end
  return of:has_metric("delay") and "delay" or of.metric
end

-- By place: what others waited for it to let go, and what it waited itself.
local places, of_function, held, waited, elsewhere = {}, {held = {}, waited = {}}, 0, 0, 0
local function add(node, side, value)
  local key = node.name .. "\0" .. node.file .. "\0" .. node.line
  local place = places[key]
  if place == nil then
    place = {name = node.name, file = node.file, line = node.line, held = 0, waited = 0}
    places[key] = place
  end
  place[side] = place[side] + value
  of_function[side][place.name] = (of_function[side][place.name] or 0) + value
end
for _, of in ipairs(profiles) do
  local metric = metric_of(of)
  -- By node: which side it is on, and the innermost frame of its stack that is not of the runtime.
  local side, caller = {}, {}
  for node in of:nodes() do
    if not node.is_root then
      local above = node.parent.id
      side[node.id] = side[above] or unlocks(node.name) and "held" or locks(node.name) and "waited" or nil
      caller[node.id] = helps(node.name) and caller[above] or node
      local value = node:self(metric)
      if value ~= 0 then
        if side[node.id] == "held" then
          held = held + value
          add(caller[node.id], "held", value)
        elseif side[node.id] == "waited" then
          waited = waited + value
          add(caller[node.id], "waited", value)
        else
          elsewhere = elsewhere + value
        end
      end
    end
  end
end
if held == 0 then error("neither profile says who holds locks that others wait for; Go's mutex profile does", 0) end
if waited == 0 then error("neither profile says who waits for locks; Go's block profile does", 0) end

-- pprof names no lock. What a lock guards is most often one type, whose methods take it: main.(*Catalog).Price.
local function owner(name)
  local path, rest = name:match("^(.*/)(.*)$")
  if path == nil then path, rest = "", name end
  return path .. (rest:match("^([^.]+%.%(%*?[^)]*%))%.") or rest:match("^([^.]+)%.") or rest)
end
local function share(part, whole) return whole ~= 0 and 100 * part / whole or 0 end
local function place_text(place)
  local file = place.file:match("[^/]*$")
  return file ~= "" and place.line > 0 and ("%s:%d"):format(file, place.line) or ""
end
local function sorted(by, side)
  local list = {}
  for _, one in pairs(by) do
    if one[side] > 0 then list[#list + 1] = one end
  end
  table.sort(list, function(a, b)
    if a[side] ~= b[side] then return a[side] > b[side] end
    if a.name ~= b.name then return a.name < b.name end
    return (a.line or 0) < (b.line or 0)  -- groups have none
  end)
  return list
end

local groups, both = {}, 0
for _, place in pairs(places) do
  local name = owner(place.name)
  local group = groups[name] or {name = name, held = 0, waited = 0, most_held = place, most_waited = place}
  groups[name] = group
  group.held, group.waited = group.held + place.held, group.waited + place.waited
  if place.held > group.most_held.held or place.held == group.most_held.held and place.name < group.most_held.name then group.most_held = place end
  if place.waited > group.most_waited.waited or place.waited == group.most_waited.waited and place.name < group.most_waited.name then
    group.most_waited = place
  end
end

local unit, rows = profile.unit, {}
for _, of in ipairs(profile.metrics) do
  if of.name == metric_of(profile) then unit = of.unit end
end
for i, group in ipairs(sorted(groups, "waited")) do
  if group.held > 0 then both = both + group.waited end
  if i <= args.rows then
    rows[i] = {group.name, group.waited, share(group.waited, waited), group.most_waited.name, group.held > 0 and group.most_held.name or "(not seen)",
               group.held > 0 and share(group.most_held.held, group.held) or nil}
  end
end
print(("%.1f %% of the waiting is for locks, the rest for channels, groups and timers"):format(share(waited, waited + elsewhere)))
print(("%.1f %% of that is at types whose lock was seen held: which lock it was no profile says, so that types stand for their locks"):format(
  share(both, waited)))
show_table {title = "Waiters and holders", rows = rows,
            columns = {"lock of", {"waited", unit}, {"of all", "%"}, "waits most", "holds most", {"of the holding", "%"}}}

for _, side in ipairs {"held", "waited"} do
  local whole, list = side == "held" and held or waited, {}
  for i, place in ipairs(sorted(places, side)) do
    if i > args.rows then break end
    list[i] = {place.name, place_text(place), place[side], share(place[side], whole), of_function[side == "held" and "waited" or "held"][place.name] or 0}
    if place.file ~= "" and place.line > 0 then
      annotate(place.file, place.line, (side == "held" and "lets go of a lock that others waited for: %.1f %%" or "waits for a lock: %.1f %%"):format(
        share(place[side], whole)))
    end
  end
  if side == "held" then
    show_table {title = "Held while others waited", rows = list,
                columns = {"function", "lets go at", {"others waited", unit}, {"of all", "%"}, {"waits itself", unit}}}
  else
    show_table {title = "Waited for a lock", rows = list, columns = {"function", "takes it at", {"waited", unit}, {"of all", "%"}, {"others wait for it", unit}}}
  end
end
