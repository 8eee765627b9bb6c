--- What boxes of a flame graph are coloured by.
local M = {}

local cells = require('profd.cells')
local protocol = require('profd.protocol')

---@param flags integer
---@param bit integer
---@return boolean
function M.has(flags, bit)
  return math.floor(flags / bit) % 2 == 1
end

--- What boxes can be coloured by.
M.COLORS = { 'package', 'kind', 'source' }

local KINDS = {
  [protocol.FrameKind.unknown] = { 'unknown', 'ProfdBoxSame' },
  [protocol.FrameKind.native] = { 'compiled', 'ProfdBox2Pale' },
  [protocol.FrameKind.jit] = { 'JIT', 'ProfdBox4' },
  [protocol.FrameKind.interpreted] = { 'interpreted', 'ProfdBox3Pale' },
  [protocol.FrameKind.kernel] = { 'kernel', 'ProfdBox1' },
  [protocol.FrameKind.gc] = { 'garbage collection', 'ProfdBox7' },
  [protocol.FrameKind.waker] = { 'waker', 'ProfdBox8' },
  [protocol.FrameKind.data] = { 'data', 'ProfdBox6' },
}
local INLINED = { 'inlined', 'ProfdBox5' }
local HERE, ELSEWHERE = { 'source in the workspace', 'ProfdBox6' }, { 'elsewhere', 'ProfdBoxFaded' }

--- The name and the highlight of a box by its kind, or by where its source is.
---@param boxes profd.FlameBoxes
---@param i integer
---@param colors string
---@return {[1]: string, [2]: string}
local function class_of(boxes, i, colors)
  if colors == 'source' then
    return M.has(boxes.flags[i], protocol.BoxFlag.hasSource) and HERE or ELSEWHERE
  end
  return M.has(boxes.flags[i], protocol.BoxFlag.inlined) and INLINED or KINDS[boxes.kind[i]] or KINDS[0]
end

--- The kind of code of a box in words, where it is not just compiled.
---@param boxes profd.FlameBoxes
---@param i integer
---@return string?
function M.kind_of(boxes, i)
  local kind = boxes.kind[i]
  local plain = kind == protocol.FrameKind.unknown or kind == protocol.FrameKind.native
  return not plain and KINDS[kind] and KINDS[kind][1] or nil
end

---@class profd.FlameLook
---@field colors string
---@field zoomed integer how many boxes are above the zoomed one
---@field search boolean
---@field found? integer[] by remainder, how many of its boxes match

---@param answer profd.FlameGraphResult
---@param item profd.FlameItem
---@param look profd.FlameLook
---@return string group
function M.group_of(answer, item, look)
  if item.joined then
    return look.found and look.found[item.joined] > 0 and 'ProfdBoxJoinedFound' or 'ProfdBoxJoined'
  end
  local boxes, i = answer.boxes, item.box
  if look.search then
    return M.has(boxes.flags[i], protocol.BoxFlag.matched) and 'ProfdBoxFound' or 'ProfdBoxFaded'
  elseif boxes.depth[i] < look.zoomed then
    return 'ProfdBoxFaded'
  elseif boxes.parent[i] < 0 then
    return 'ProfdBoxSame'
  elseif answer.changes then
    return cells.change_look(answer.changes.strength[i])
  end
  if look.colors ~= 'package' then
    return class_of(boxes, i, look.colors)[2]
  end
  local name = boxes.name[i] + 1
  local group = answer.named and answer.named.group[name] or -1
  return cells.look_of(answer.groups and answer.groups[group + 1], answer.names[name])
end

--- A line that says what colours mean, where they mean one of a few things.
---@param page profd.FlamePage
---@param answer profd.FlameGraphResult
---@param colors string
function M.add_legend(page, answer, colors)
  local piece, finish = cells.new_line(page)
  piece('coloured by ' .. colors .. ':', 'ProfdHint')
  local seen = {}
  for i, parent in ipairs(answer.boxes.parent) do
    local class = class_of(answer.boxes, i, colors)
    if parent >= 0 and not seen[class] then
      seen[class] = true
      piece(' ')
      piece((' %s '):format(class[1]), class[2])
    end
  end
  finish()
end

return M
