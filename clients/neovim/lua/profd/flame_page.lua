--- A flame graph as lines of characters. A cell is one part of the width, or with half blocks two; a part belongs to
--- the box whose span covers its middle, so that boxes never overlap and each that is as wide as a part has one.
local M = {}

local cells = require('profd.cells')
local fit = require('profd.fit')
local heat = require('profd.heat')
local log = require('profd.log')
local look_of = require('profd.flame_look')
local protocol = require('profd.protocol')
local text_page = require('profd.text_page')

local EDGE, MIDDLE, HALF, JOINED = '▏', '│', '▌', '░'
local LEAST_LABEL = 3

---@class profd.FlameItem what is at a part of a row
---@field box? integer index into the boxes of the answer, from 1
---@field joined? integer index into the remainder
---@field from integer first part
---@field to integer after the last

---@class profd.FlamePage: profd.CellPage
---@field rows table<integer, profd.FlameItem[]> by 1-based line, from left to right
---@field at table<integer, table<integer, profd.FlameItem>> by 1-based line and part, from 0
---@field first integer the line of the root
---@field parts integer of the whole width
---@field per_cell integer 1 or 2

--- The parts whose middles a span covers.
---@param x number
---@param width number
---@param scale number parts of a unit of the metric
---@param parts integer
---@return integer from
---@return integer to after the last
local function parts_of(x, width, scale, parts)
  local from, to = math.ceil(x * scale - 0.5), math.ceil((x + width) * scale - 0.5)
  return math.max(0, math.min(from, parts)), math.max(0, math.min(to, parts))
end

--- Which box has which part of which row, by depth.
---@param answer profd.FlameGraphResult
---@param parts integer
---@return profd.FlameItem[][] by depth, from 0
local function rows_of(answer, parts)
  local rows = {}
  local boxes, rest = answer.boxes, answer.remainder
  local all = boxes.width[1] or 0
  local scale = all > 0 and parts / all or 0
  local function put(columns, i, item)
    local depth = columns.depth[i]
    item.from, item.to = parts_of(columns.x[i], columns.width[i], scale, parts)
    rows[depth] = rows[depth] or {}
    if item.from < item.to then
      table.insert(rows[depth], item)
    end
  end
  for i in ipairs(boxes.depth) do
    put(boxes, i, { box = i })
  end
  for i in ipairs(rest.depth) do
    put(rest, i, { joined = i })
  end
  for _, row in pairs(rows) do
    table.sort(row, function(a, b)
      return a.from < b.from
    end)
  end
  return rows
end

local MARKS = { [protocol.ChangeKind.added] = '[A] ', [protocol.ChangeKind.deleted] = '[D] ' }

--- What fits of the name of a box.
---@param answer profd.FlameGraphResult
---@param item profd.FlameItem
---@param room integer cells
---@return string as wide as `room`
local function label_of(answer, item, room)
  if item.joined then
    return JOINED:rep(room)
  elseif room < LEAST_LABEL then
    return (' '):rep(room)
  end
  local name = answer.boxes.name[item.box] + 1
  local mark = answer.changes and MARKS[answer.changes.change[item.box]] or ''
  if room < #mark + LEAST_LABEL then
    mark = ''
  end
  local label = fit.name(log.one_line(answer.labels[name]), answer.cuts and answer.cuts[name], room - #mark)
  return fit.left(mark .. label, room)
end

---@param page profd.FlamePage
---@param answer profd.FlameGraphResult
---@param row profd.FlameItem[]
---@param look profd.FlameLook
local function add_row(page, answer, row, look)
  local piece, finish = cells.new_line(page)
  local by_part, groups = {}, {}
  for _, item in ipairs(row) do
    groups[item] = look_of.group_of(answer, item, look)
    for part = item.from, item.to - 1 do
      by_part[part] = item
    end
  end
  local k, width = page.per_cell, page.parts / page.per_cell
  local cell = 0
  while cell < width do
    local item = by_part[cell * k]
    local other = by_part[cell * k + k - 1]
    if item ~= other then
      local one, two = item and groups[item], other and groups[other]
      -- Two boxes of one colour are told apart by a line.
      piece(one == two and MIDDLE or HALF, one == two and heat.halves(nil, one) or heat.halves(one, two))
      cell = cell + 1
    else
      local stop = cell + 1
      while stop < width and by_part[stop * k] == item and by_part[stop * k + k - 1] == item do
        stop = stop + 1
      end
      if item then
        local begins = item.from == cell * k and cell > 0 and not item.joined
        if begins then
          piece(EDGE, heat.halves(nil, groups[item]))
        end
        piece(label_of(answer, item, stop - cell - (begins and 1 or 0)), groups[item])
      else
        piece((' '):rep(stop - cell))
      end
      cell = stop
    end
  end
  finish()
  page.rows[#page.lines], page.at[#page.lines] = row, by_part
end

---@class profd.FlameAbout
---@field width integer cells
---@field per_cell integer parts of a cell, 1 or 2
---@field head {[1]: string, [2]: string}[] lines above, with their highlights
---@field foot string[] lines below
---@field zoomed integer how many boxes are above the zoomed one
---@field search boolean
---@field colors string one of COLORS
---@field found? integer[] by remainder, how many of its boxes match

---@param answer profd.FlameGraphResult
---@param about profd.FlameAbout
---@return profd.FlamePage
function M.compose(answer, about)
  ---@type profd.FlamePage
  local page = {
    lines = {},
    marks = {},
    rows = {},
    at = {},
    first = 1,
    parts = about.width * about.per_cell,
    per_cell = about.per_cell,
  }
  for _, line in ipairs(about.head) do
    text_page.add_sentence(page, line[1], line[2], about.width)
  end
  if about.colors ~= 'package' and not about.search and not answer.changes then
    look_of.add_legend(page, answer, about.colors)
  end
  page.first = #page.lines + 1
  local rows = rows_of(answer, page.parts)
  local look = { zoomed = about.zoomed, search = about.search, found = about.found, colors = about.colors }
  for depth = 0, answer.rows - 1 do
    add_row(page, answer, rows[depth] or {}, look)
  end
  page.lines[#page.lines + 1] = ''
  for _, line in ipairs(about.foot) do
    text_page.add_sentence(page, line, 'ProfdHint', about.width)
  end
  return page
end

--- What is at a line and a part.
---@param page profd.FlamePage
---@param line integer 1-based
---@param part integer from 0
---@return profd.FlameItem?
function M.find(page, line, part)
  local row = page.at[line]
  return row and row[part]
end

--- The item `step` further in a row than the one at a part, or than a part that has none; at most the first or last.
---@param page profd.FlamePage
---@param line integer
---@param part integer
---@param step integer
---@return profd.FlameItem?
function M.beside(page, line, part, step)
  local row = page.rows[line] or {}
  local here = 0
  for i, item in ipairs(row) do
    here = item.from <= part and i or here
  end
  if step < 0 and not M.find(page, line, part) then
    here = here + 1
  end
  return row[math.max(1, math.min(#row, here + step))]
end

--- The widest item of the row below an item that belongs to it.
---@param page profd.FlamePage
---@param answer profd.FlameGraphResult
---@param line integer of the item
---@param item profd.FlameItem
---@return profd.FlameItem?
function M.widest_child(page, answer, line, item)
  local widest
  for _, other in ipairs(item.box and page.rows[line + 1] or {}) do
    local parent = other.box and answer.boxes.parent[other.box] or answer.remainder.parent[other.joined]
    if parent == item.box - 1 and (not widest or other.to - other.from > widest.to - widest.from) then
      widest = other
    end
  end
  return widest
end

--- The keys and the names from the root of the view down to a box, without the root.
---@param answer profd.FlameGraphResult
---@param box integer
---@return integer[] keys
---@return string[] names
function M.path_of(answer, box)
  local keys, names = {}, {}
  while box > 0 and answer.boxes.parent[box] >= 0 do
    table.insert(keys, 1, answer.boxes.key[box])
    table.insert(names, 1, answer.names[answer.boxes.name[box] + 1])
    box = answer.boxes.parent[box] + 1
  end
  return keys, names
end

--- The names of the boxes above the zoomed one and its own, without the root: the first of the answer.
---@param answer profd.FlameGraphResult
---@param count integer
---@return string[]
function M.first_names(answer, count)
  local names = {}
  for i = 2, count + 1 do
    names[#names + 1] = answer.names[answer.boxes.name[i] + 1]
  end
  return names
end

--- Whether an answer has a box of its own at a path of keys.
---@param answer profd.FlameGraphResult
---@param keys integer[]
---@return boolean
function M.has(answer, keys)
  for i, depth in ipairs(answer.boxes.depth) do
    if depth == #keys and answer.boxes.key[i] == keys[#keys] and vim.deep_equal((M.path_of(answer, i)), keys) then
      return true
    end
  end
  return false
end

--- The box at a path of keys, and where it is drawn.
---@param page profd.FlamePage
---@param answer profd.FlameGraphResult
---@param keys integer[]
---@return integer? line
---@return profd.FlameItem?
function M.place_of(page, answer, keys)
  local row = page.rows[page.first + #keys] or {}
  for _, item in ipairs(row) do
    if item.box and vim.deep_equal((M.path_of(answer, item.box)), keys) then
      return page.first + #keys, item
    end
  end
end

--- What an item is, in a line.
---@param answer profd.FlameGraphResult
---@param item profd.FlameItem
---@param found? string[] by remainder, what of it matches a search
---@return string
function M.text_of(answer, item, found)
  if item.joined then
    local more = found and found[item.joined] ~= '' and '; ' .. found[item.joined] or ''
    return ('%s; too narrow to be drawn alone, <CR> goes closer%s'):format(answer.remainder.text[item.joined], more)
  end
  local boxes, i = answer.boxes, item.box
  local parts = { ('%s: %s'):format(answer.names[boxes.name[i] + 1], boxes.text[i]) }
  if answer.changes then
    parts[1] = ('%s: %s'):format(answer.names[boxes.name[i] + 1], answer.changes.text[i])
    parts[2] = boxes.text[i]
  end
  if boxes.selfText then
    parts[#parts + 1] = 'self ' .. boxes.selfText[i]
  end
  if boxes.parentShare and boxes.parentShare[i] ~= '' then
    parts[#parts + 1] = boxes.parentShare[i] .. ' of its parent'
  end
  if boxes.colorText and boxes.colorText[i] ~= '' then
    parts[#parts + 1] = 'varies by ' .. boxes.colorText[i]
  end
  if look_of.has(boxes.flags[i], protocol.BoxFlag.inlined) then
    parts[#parts + 1] = 'inlined'
  end
  parts[#parts + 1] = look_of.kind_of(boxes, i)
  if look_of.has(boxes.flags[i], protocol.BoxFlag.more) then
    parts[#parts + 1] = 'more below: <CR>'
  end
  return table.concat(parts, ', ')
end

return M
