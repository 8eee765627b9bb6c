--- The flame graph on the screen: its page, what stands around it, and what is under the cursor.
local M = {}

local cells = require('profd.cells')
local changes = require('profd.changes')
local filters_of = require('profd.filters')
local page_of = require('profd.flame_page')
local session = require('profd.session')

local WIDE = 100 -- columns from which on a cell is two parts
local KEYS = '<CR> closer  <BS> back  0 all  / search  b bottom-up  c callers  x hide  u undo  ? keys'
local namespace = vim.api.nvim_create_namespace('profd.flame')
local chosen_namespace = vim.api.nvim_create_namespace('profd.flame.chosen')

---@class profd.FlameZoom
---@field names string[]
---@field keys integer[]
---@field of string the view and the revision that the keys are of
---@field before? profd.FlameZoom|false of a match that was too narrow: what was zoomed to then; false: all

---@class profd.Flame what is shown
---@field bufnr integer
---@field profile string
---@field shape 'top-down'|'bottom-up'
---@field zoom? profd.FlameZoom absent: all
---@field back (profd.FlameZoom|false)[] what was zoomed to before; false: all
---@field colors string
---@field search? string
---@field searched? string that of the answer
---@field answer? profd.FlameGraphResult
---@field hidden? profd.HiddenMatchesResult of a search
---@field filters string[] of the answer
---@field page? profd.FlamePage
---@field spec string that was asked for last
---@field part integer where the cursor is; finer than its column
---@field goto_keys? integer[] the box the cursor goes to with the next answer
---@field asked integer counts requests: only the newest answer is painted

---@param at profd.Flame
---@return integer cells
---@return integer per_cell
function M.room_of(at)
  local width = math.max(20, cells.width_of(at.bufnr))
  return width, width >= WIDE and 2 or 1
end

---@param at profd.Flame
---@return {[1]: string, [2]: string}[]
local function head_of(at)
  local answer = at.answer
  local total = answer.viewTotal.text
  if #at.filters > 0 then
    total = ('%s of %s'):format(total, answer.total.text)
  end
  local title = ('%s of %s, %s: %s'):format(answer.metric, session.name, at.shape, total)
  if answer.sides then -- whose totals follow
    title = ('%s of %s, %s'):format(changes.metric(answer.metric), session.name, at.shape)
  end
  if at.zoom and #at.zoom.names > 0 then
    local zoomed = answer.zoomTotal
    local share = zoomed.shareText and ' · ' .. zoomed.shareText or ''
    title = ('%s › %s: %s%s'):format(title, at.zoom.names[#at.zoom.names], zoomed.text, share)
  end
  local head = { { title, 'ProfdTitle' } }
  local note = filters_of.note(at.filters)
  if note then
    head[#head + 1] = { note, 'ProfdHint' }
  end
  if answer.sides then
    head[#head + 1] =
      { changes.total(answer.sides) .. '; orange grew, blue shrank; as wide as the larger side', 'ProfdHint' }
  end
  if at.search and answer.search then
    local found = answer.search.amount
    local text = ('/%s/: %s · %s, %d %s'):format(
      at.search,
      found.text,
      found.shareText or 'n/a',
      answer.search.names,
      answer.search.names == 1 and 'name' or 'names'
    )
    if at.hidden and at.zoom then
      text = ('%s; of the zoomed box %s · %s'):format(text, at.hidden.zoomed.text, at.hidden.zoomed.shareText or 'n/a')
    end
    local hidden = at.hidden and at.hidden.hidden
    if hidden and hidden.value ~= 0 then
      text = ('%s; %s · %s only in boxes that are not drawn'):format(text, hidden.text, hidden.shareText or 'n/a')
    end
    head[#head + 1] = { text, 'ProfdHint' }
  end
  return head
end

---@param at profd.Flame
---@return string[]
local function foot_of(at)
  local answer, foot = at.answer, {}
  if answer.viewTotal.value == 0 then
    foot[1] = #at.filters > 0 and 'nothing passes the filters; u takes the last one back' or 'nothing was measured'
  end
  for _, note in ipairs({
    answer.truncated and answer.truncated.text or '',
    answer.estimated or '',
    answer.excluded and answer.excluded.text or '',
  }) do
    foot[#foot + 1] = note ~= '' and note or nil
  end
  vim.list_extend(foot, answer.warnings or {})
  foot[#foot + 1] = '<CR> or a double click goes closer · <BS> back · 0 all · / search · ? all keys'
  return foot
end

--- What is under the cursor.
---@param at profd.Flame
---@return profd.FlameItem?
function M.item_at(at)
  if not at.page or vim.api.nvim_get_current_buf() ~= at.bufnr then
    return nil
  end
  local line, cell = vim.api.nvim_win_get_cursor(0)[1], vim.fn.virtcol('.') - 1
  local k = at.page.per_cell
  -- The cursor is as wide as a cell; keys that go from box to box know which part of it is meant.
  if math.floor(at.part / k) ~= cell then
    at.part = cell * k
    if not page_of.find(at.page, line, at.part) then
      at.part = cell * k + k - 1
    end
  end
  return page_of.find(at.page, line, at.part)
end

--- Says what is under the cursor above the window, and marks its box.
---@param at profd.Flame
function M.tell(at)
  local item = M.item_at(at)
  local text = item and page_of.text_of(at.answer, item, at.hidden and at.hidden.matchedText) or KEYS
  cells.tell(at.bufnr, text)
  vim.api.nvim_buf_clear_namespace(at.bufnr, chosen_namespace, 0, -1)
  if item then
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local content = vim.api.nvim_buf_get_lines(at.bufnr, line - 1, line, false)[1]
    local k = at.page.per_cell
    local from = cells.bytes_of(content, math.floor(item.from / k))
    vim.api.nvim_buf_set_extmark(at.bufnr, chosen_namespace, line - 1, from, {
      end_col = cells.bytes_of(content, math.ceil(item.to / k)),
      hl_group = 'ProfdChosen',
      priority = 5000,
    })
  end
end

--- Puts the cursor on an item of a line.
---@param at profd.Flame
---@param line integer
---@param item profd.FlameItem
function M.go_to(at, line, item)
  local window = vim.fn.bufwinid(at.bufnr)
  if window == -1 then
    return
  end
  local k = at.page.per_cell
  at.part = item.from
  -- The first cell that is its own, where it has one.
  if item.from % k ~= 0 and item.from + 1 < item.to then
    at.part = item.from + 1
  end
  local content = vim.api.nvim_buf_get_lines(at.bufnr, line - 1, line, false)[1]
  vim.api.nvim_win_set_cursor(window, { line, cells.bytes_of(content, math.floor(at.part / k)) })
end

---@param at profd.Flame
function M.paint(at)
  local width, per_cell = M.room_of(at)
  local window = vim.fn.bufwinid(at.bufnr)
  -- Lines above the graph come and go: the cursor stays in its row and column.
  local before = at.page and window ~= -1 and vim.api.nvim_win_get_cursor(window)
  local column = before and vim.fn.virtcol('.', false, window)
  local depth = before and before[1] - at.page.first
  at.page = page_of.compose(at.answer, {
    width = width,
    per_cell = per_cell,
    head = head_of(at),
    foot = foot_of(at),
    zoomed = at.zoom and #at.zoom.keys or 0,
    search = at.search ~= nil,
    colors = at.colors,
    found = at.hidden and at.hidden.matched,
  })
  cells.paint(at.bufnr, namespace, at.page)
  if window == -1 then
    return
  end
  local line, item
  if at.goto_keys then
    line, item = page_of.place_of(at.page, at.answer, at.goto_keys)
    at.goto_keys = nil
  end
  if line then
    M.go_to(at, line, item)
  elseif depth and depth >= 0 then
    line = math.min(at.page.first + depth, #at.page.lines)
    local content = at.page.lines[line]
    vim.api.nvim_win_set_cursor(window, { line, cells.bytes_of(content, math.min(column - 1, width - 1)) })
  end
  if vim.api.nvim_get_current_win() == window then
    M.tell(at)
  end
end

return M
