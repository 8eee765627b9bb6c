--- Hints on the screen, as marks that move with the text: what an answer changes is set anew, the rest stays as it is.
local M = {}

local config = require('profd.config')
local place = require('profd.hint_place')

M.namespace = vim.api.nvim_create_namespace('profd.hints')

---@class profd.HintMarks what is painted in a buffer
---@field ids integer[] marks, by hint
---@field index table<integer, integer> of a mark its hint
---@field hints profd.Hint[]
---@field widths integer[] of their lines
---@field room? {column: integer, columns: integer, wrap: boolean, opts: profd.Config} what they were fitted into
---@field lines? profd.AnnotationColumns
---@field from? integer lines that were edited since they were painted, 0-based; absent: none
---@field to? integer behind the last of them
---@field touched boolean an edit since they were asked for may have changed what they say
---@field watched? boolean edits are told
---@field has_signs boolean

---@return profd.HintMarks
function M.new()
  return { ids = {}, index = {}, hints = {}, widths = {}, touched = false, has_signs = false }
end

--- Widens what was edited by one more edit.
---@param marks profd.HintMarks
---@param first integer
---@param last integer
---@param new_last integer
local function add_edit(marks, first, last, new_last)
  local function moved(line)
    return line >= last and line + new_last - last or line
  end
  marks.from = math.min(marks.from or first, first)
  marks.to = math.max(marks.to and moved(marks.to) or new_last, new_last)
end

--- Follows the edits of a buffer for as long as `marks` are what is painted in it.
---@param bufnr integer
---@param marks profd.HintMarks
---@param is_current fun(): boolean
function M.watch(bufnr, marks, is_current)
  if marks.watched then
    return
  end
  local function lost()
    marks.watched, marks.room, marks.touched = nil, nil, true
  end
  marks.watched = vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if not is_current() then
        return true
      end
      add_edit(marks, first, last, new_last)
      -- The mark of a line that was replaced as a whole is at the begin of the next one by now.
      local until_next = { last, 0 }
      marks.touched = marks.touched
        or last ~= new_last
        or #vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, { first, 0 }, until_next, { limit = 1 }) > 0
    end,
    on_reload = function()
      marks.room, marks.touched = nil, true
    end,
    on_detach = lost,
  })
end

---@param one profd.Hint
---@param other profd.Hint
---@return boolean
local function look_alike(one, other)
  return one.text == other.text
    and one.group == other.group
    and one.number_group == other.number_group
    and vim.deep_equal(one.sign, other.sign)
end

--- Whether two answers say the same, on whichever lines.
---@param one profd.AnnotationColumns?
---@param other profd.AnnotationColumns
---@return boolean
local function say_the_same(one, other)
  if not one or #one.text ~= #other.text then
    return false
  end
  for _, column in ipairs({ 'text', 'stale', 'heat', 'strength' }) do
    for i, value in ipairs(other[column] or {}) do
      if not one[column] or one[column][i] ~= value then
        return false
      end
    end
  end
  return (one.strength == nil) == (other.strength == nil)
end

---@param bufnr integer
---@param marks profd.HintMarks
---@param i integer
local function set(bufnr, marks, i)
  local hint, room = marks.hints[i], marks.room
  local chunks, position = place.place(hint, {
    width = marks.widths[i],
    column = room.column,
    columns = room.columns,
    wrap = room.wrap,
  }, room.opts)
  local before = marks.ids[i]
  if before then
    vim.api.nvim_buf_del_extmark(bufnr, M.namespace, before)
    marks.index[before] = nil
  end
  local id = vim.api.nvim_buf_set_extmark(bufnr, M.namespace, hint.line, 0, {
    virt_text = chunks,
    virt_text_pos = position,
    number_hl_group = hint.number_group,
    sign_text = hint.sign and hint.sign.text,
    sign_hl_group = hint.sign and hint.sign.group,
    hl_mode = 'combine',
    invalidate = true, -- a hint goes with its line, and comes back with undo
    undo_restore = true,
    priority = 90,
  })
  marks.ids[i], marks.index[id] = id, i
end

--- Whether the marks stand where the hints are to stand, but those of edited lines.
---@param bufnr integer
---@param marks profd.HintMarks
---@param lines integer[]
---@return boolean
local function are_in_place(bufnr, marks, lines)
  local found = vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, 0, -1, {})
  if #found ~= #marks.ids then
    return false
  end
  for _, mark in ipairs(found) do
    local line = lines[marks.index[mark[1]]]
    local edited = marks.from and line and line >= marks.from and line < marks.to
    if not edited and line ~= mark[2] then
      return false
    end
  end
  return true
end

--- All of them anew.
---@param bufnr integer
---@param marks profd.HintMarks
---@param hints profd.Hint[]
local function paint_all(bufnr, marks, hints)
  M.clear(bufnr, marks)
  marks.hints = hints
  local columns, wrap = place.narrowest(bufnr)
  marks.widths = place.measure(bufnr, hints)
  marks.room = { column = place.column(marks.widths), columns = columns, wrap = wrap, opts = config.current }
  for i in ipairs(hints) do
    set(bufnr, marks, i)
  end
end

--- Those that are of edited lines or say something else.
---@param bufnr integer
---@param marks profd.HintMarks
---@param hints profd.Hint[]
---@return boolean done false: it takes all of them
local function paint_some(bufnr, marks, hints)
  local columns, wrap = place.narrowest(bufnr)
  local room = marks.room
  if
    not room
    or #hints ~= #marks.hints
    or room.columns ~= columns
    or room.wrap ~= wrap
    or room.opts ~= config.current
  then
    return false
  end
  local edited, changed = {}, {}
  for i, hint in ipairs(hints) do
    if marks.from and hint.line >= marks.from and hint.line < marks.to then
      edited[#edited + 1] = hint
      changed[#changed + 1] = i
    elseif not look_alike(hint, marks.hints[i]) then
      changed[#changed + 1] = i
    end
  end
  local widths = place.measure(bufnr, edited)
  for _, i in ipairs(changed) do
    if hints[i] == edited[1] then
      table.remove(edited, 1)
      marks.widths[i] = table.remove(widths, 1)
    end
  end
  if place.column(marks.widths) ~= room.column then
    return false
  end
  marks.hints = hints
  for _, i in ipairs(changed) do
    set(bufnr, marks, i)
  end
  return true
end

--- Shows what an answer says.
---@param bufnr integer
---@param marks profd.HintMarks
---@param lines profd.AnnotationColumns
---@param anew? boolean whatever is there already
function M.paint(bufnr, marks, lines, anew)
  local opts = config.current
  local same = marks.room and marks.room.opts == opts and say_the_same(marks.lines, lines)
  local hints = same and place.moved(marks.hints, lines.line) or place.compose(lines, opts)
  local n_lines, whole = vim.api.nvim_buf_line_count(bufnr), #hints
  -- They are in the order of their lines; an answer may be of a text that was longer.
  while #hints > 0 and hints[#hints].line >= n_lines do
    table.remove(hints)
  end
  if anew or not are_in_place(bufnr, marks, lines.line) or not paint_some(bufnr, marks, hints) then
    paint_all(bufnr, marks, hints)
  end
  marks.lines = #hints == whole and lines or nil
  marks.from, marks.to, marks.has_signs = nil, nil, false
  for _, hint in ipairs(hints) do
    marks.has_signs = marks.has_signs or hint.sign ~= nil
  end
end

--- Takes the hints off a buffer.
---@param bufnr integer
---@param marks profd.HintMarks
function M.clear(bufnr, marks)
  vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  marks.ids, marks.index, marks.hints, marks.widths, marks.room, marks.lines = {}, {}, {}, {}, nil, nil
end

return M
