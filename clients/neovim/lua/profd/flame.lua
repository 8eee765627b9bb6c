--- `:Profd flame`: a flame graph in a buffer, laid out by the daemon for the width of its window.
local M = {}

local ask = require('profd.flame_ask')
local client = require('profd.client')
local log = require('profd.log')
local look_of = require('profd.flame_look')
local page_of = require('profd.flame_page')
local protocol = require('profd.protocol')
local row_keys = require('profd.row_keys')
local scratch = require('profd.scratch')
local session = require('profd.session')
local view = require('profd.flame_view')
local window = require('profd.view_window')

---@type profd.Flame?
local shown

local function ask_and_paint()
  local at = shown
  ask.picture(at, function()
    view.paint(at)
  end)
end

---@param zoom profd.FlameZoom?
local function look(zoom)
  table.insert(shown.back, shown.zoom or false)
  shown.zoom = zoom
  shown.goto_keys = zoom and zoom.keys or {}
  ask_and_paint()
end

---@param box integer
---@return profd.FlameZoom?
local function zoom_to_box(box)
  local keys, names = page_of.path_of(shown.answer, box)
  return #keys > 0 and { keys = keys, names = names, of = ask.keys_basis(shown) } or nil
end

--- <CR>: closer to a box; of what was joined, to what it is part of.
local function enter()
  local item = view.item_at(shown)
  if not item then
    return
  end
  local box = item.box or shown.answer.remainder.parent[item.joined] + 1
  local zoom = zoom_to_box(box)
  if item.joined and #(zoom and zoom.keys or {}) <= #(shown.zoom and shown.zoom.keys or {}) then
    return log.info('they are too narrow here, too; t or :Profd tree lists them')
  end
  if not vim.deep_equal(zoom and zoom.keys, shown.zoom and shown.zoom.keys) then
    look(zoom)
  end
end

local function back()
  local before = table.remove(shown.back)
  if before == nil then
    return log.info('nothing was looked at before')
  end
  local left = shown.zoom
  shown.zoom = before or nil
  shown.goto_keys = left and left.keys or {}
  ask_and_paint()
end

local function reset()
  if shown.zoom then
    look(nil)
  end
end

---@param step integer
local function beside(step)
  view.item_at(shown)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local item = page_of.beside(shown.page, line, shown.part, step * vim.v.count1)
  if item then
    view.go_to(shown, line, item)
    view.tell(shown)
  end
end

--- j: to the widest box that is below the one under the cursor; where none is, down a line.
local function below()
  for _ = 1, vim.v.count1 do
    local item = view.item_at(shown)
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local child = item and page_of.widest_child(shown.page, shown.answer, line, item)
    if not child then
      vim.cmd('normal! j')
      break
    end
    view.go_to(shown, line + 1, child)
  end
  view.tell(shown)
end

--- k: to the box that the one under the cursor is part of.
local function above()
  for _ = 1, vim.v.count1 do
    local item = view.item_at(shown)
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local parent = item and page_of.find(shown.page, line - 1, item.from)
    if not parent then
      vim.cmd('normal! k')
      break
    end
    view.go_to(shown, line - 1, parent)
  end
  view.tell(shown)
end

local function turn()
  shown.shape = shown.shape == 'top-down' and 'bottom-up' or 'top-down'
  shown.zoom, shown.back, shown.goto_keys = nil, {}, {}
  ask_and_paint()
end

local function next_colors()
  if shown.answer.changes then
    return log.info('boxes of a diff are coloured by what became of them')
  end
  for i, colors in ipairs(look_of.COLORS) do
    if colors == shown.colors then
      shown.colors = look_of.COLORS[i % #look_of.COLORS + 1]
      break
    end
  end
  view.paint(shown)
  log.info('coloured by ' .. shown.colors)
end

local function search()
  local at = shown
  vim.ui.input({ prompt = 'Search (regular expression): ', default = at.search }, function(text)
    vim.cmd("redraw | echo ''") -- what was typed stays there else
    if text and shown == at then
      at.search = text ~= '' and text or nil
      ask_and_paint()
    end
  end)
end

--- Shows a match: where it is, or closer to it where it is too narrow. Such a look goes back before the next one.
---@param at profd.Flame
---@param path integer[]
local function show_match(at, path)
  local line, found = page_of.place_of(at.page, at.answer, path)
  if line then
    view.go_to(at, line, found)
    return view.tell(at)
  end
  local function closer()
    -- The names on the way to it are not known: the next answer has them.
    look({ keys = path, names = {}, of = ask.keys_basis(at), before = at.zoom or false })
  end
  if not at.zoom or at.zoom.before == nil then
    return closer()
  end
  at.zoom, at.goto_keys = at.zoom.before or nil, path
  ask.picture(at, function()
    if page_of.has(at.answer, path) then
      view.paint(at)
    else
      closer()
    end
  end)
end

--- n, N: the match after or before the box under the cursor, those that have no box of their own too.
---@param direction profd.MatchDirection
local function step_match(direction)
  local at = shown
  if not at.search then
    return log.info('/ searches; n and N go from match to match')
  end
  local item = view.item_at(at)
  local from = item and item.box and page_of.path_of(at.answer, item.box)
  local within = at.zoom
  if within and within.before ~= nil then
    within = within.before or nil
  end
  local asked = at.asked
  ---@type profd.MatchParams
  local params = {
    profile = at.profile,
    spec = at.spec,
    pattern = at.search,
    from = from and #from > 0 and from or nil,
    within = within and within.keys or nil,
    revision = at.answer.revision,
    direction = direction,
    panelId = 'flame-match',
  }
  client.request(protocol.methods.match, params, function(result, err)
    if shown ~= at or at.asked ~= asked then
      return
    elseif err then
      return log.error(session.sentence(err))
    end
    local match = result.match
    if not match then
      return log.info(('nothing %smatches %s'):format(within and 'in the zoomed box ' or '', at.search))
    end
    if match.wrapped then
      log.info(direction == 'next' and 'from the first match again' or 'from the last match again')
    end
    show_match(at, match.path)
  end)
end

---@return profd.Row?
local function row_at()
  local item = shown and view.item_at(shown)
  if not item or not item.box or shown.answer.boxes.parent[item.box] < 0 then
    return nil
  end
  local answer = shown.answer
  local name = answer.boxes.name[item.box] + 1
  local _, frames = page_of.path_of(answer, item.box)
  -- Bottom-up the root of a stack is at the end.
  if shown.shape == 'bottom-up' then
    local reversed = {}
    for i = #frames, 1, -1 do
      reversed[#reversed + 1] = frames[i]
    end
    frames = reversed
  end
  local file = answer.named.file and answer.named.file[name] or -1
  return {
    name = answer.names[name],
    frames = frames,
    file = file >= 0 and answer.files[file + 1] or nil,
    line = answer.named.line and answer.named.line[name] or nil,
  }
end

---@type profd.Key[]
local keys = vim.list_extend({
  { '<CR>', enter, 'closer to the box; above it, back out' },
  { '<2-LeftMouse>', enter, 'the same with the mouse; a click says what it is' },
  { '<BS>', back, 'what was looked at before' },
  { '0', reset, 'everything' },
  { 'j', below, 'the widest box below' },
  { 'k', above, 'the box above' },
  { 'l', beside, 'the next box of the row', with = 1 },
  { 'h', beside, 'the box before it', with = -1 },
  { '<Down>', below, '' },
  { '<Up>', above, '' },
  { '<Right>', beside, '', with = 1 },
  { '<Left>', beside, '', with = -1 },
  { '/', search, 'search; empty: end the search' },
  { 'n', step_match, 'next match', with = protocol.MatchDirection.next },
  { 'N', step_match, 'previous match', with = protocol.MatchDirection.previous },
  { 's', next_colors, 'colour by package, by kind of code, by where the source is' },
  { 'b', turn, 'bottom-up, or top-down again' },
  {
    't',
    function()
      require('profd.tree').show('flat')
    end,
    'table',
  },
}, row_keys.of(row_at))

---@type profd.ViewWindow
local about = {
  name = 'flame',
  title = 'Flame graph',
  keys = keys,
  row_at = row_at,
  shown = function()
    return shown
  end,
  tell = function()
    view.tell(shown)
  end,
  refit = function()
    M.refit()
  end,
  refresh = function()
    M.refresh()
  end,
}

--- The window may have another width now.
function M.refit()
  if window.is_seen(shown) and shown.page and session.profile then
    local width, per_cell = view.room_of(shown)
    if width * per_cell ~= shown.page.parts then
      ask_and_paint()
    end
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  if not window.is_seen(shown) or not session.profile then
    return
  end
  if shown.profile ~= session.profile then
    shown.profile, shown.zoom, shown.back, shown.goto_keys = session.profile, nil, {}, {}
  end
  ask_and_paint()
end

--- `:Profd flame`
function M.show()
  session.with_profile(function()
    if window.is_seen(shown) then
      window.enter(shown)
      return M.refresh()
    end
    local before = shown
    if before then
      before.asked = before.asked + 1 -- its answers come too late
    end
    ---@type profd.Flame
    local at = {
      bufnr = -1,
      profile = session.profile,
      shape = before and before.shape or 'top-down',
      colors = before and before.colors or look_of.COLORS[1],
      back = {},
      filters = {},
      spec = '',
      part = 0,
      asked = 0,
    }
    if before and before.profile == at.profile then
      at.zoom, at.back, at.search = before.zoom, before.back, before.search
    end
    shown = at
    ask.picture(at, function()
      at.bufnr = window.open(about)
      vim.wo[0][0].cursorline = false
      at.goto_keys = at.zoom and at.zoom.keys or {}
      view.paint(at)
      scratch.set_height(#at.page.lines + 1)
      vim.fn.winrestview({ topline = 1 })
      M.refit()
    end)
  end)
end

return M
