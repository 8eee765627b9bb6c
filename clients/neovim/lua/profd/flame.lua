--- `:Profd flame`: a flame graph in a buffer, laid out by the daemon for the width of its window.
local M = {}

local cells = require('profd.cells')
local client = require('profd.client')
local filters_of = require('profd.filters')
local keys_of = require('profd.keys')
local log = require('profd.log')
local page_of = require('profd.flame_page')
local place = require('profd.place')
local protocol = require('profd.protocol')
local row_keys = require('profd.row_keys')
local scratch = require('profd.scratch')
local session = require('profd.session')

local NAME = 'profd://flame'
local RESIZE_DELAY_MS = 60
local WIDE = 100 -- columns from which on a cell is two parts
local MOST_BOXES = 5000 -- as many as the daemon gives at once
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

---@type profd.Flame?
local shown
---@type uv.uv_timer_t?
local timer

---@param at profd.Flame
---@return integer cells
---@return integer per_cell
local function room_of(at)
  local width = math.max(20, cells.width_of(at.bufnr))
  return width, width >= WIDE and 2 or 1
end

--- The view and the revision that keys are good for.
---@param at profd.Flame
---@return string
local function keys_basis(at)
  return ('%s\n%s\n%d'):format(at.profile, at.spec, at.answer and at.answer.revision or 0)
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
    head[#head + 1] = { require('profd.changes').total(answer.sides) .. '; orange grew, blue shrank', 'ProfdHint' }
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
local function item_at(at)
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
local function tell(at)
  local item = item_at(at)
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
local function go_to(at, line, item)
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
local function paint(at)
  local width, per_cell = room_of(at)
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
    go_to(at, line, item)
  elseif depth and depth >= 0 then
    line = math.min(at.page.first + depth, #at.page.lines)
    local content = at.page.lines[line]
    vim.api.nvim_win_set_cursor(window, { line, cells.bytes_of(content, math.min(column - 1, width - 1)) })
  end
  if vim.api.nvim_get_current_win() == window then
    tell(at)
  end
end

---@param at profd.Flame
---@param by_names boolean
---@return profd.FlameGraphParams
local function params_of(at, by_names)
  local width, per_cell = room_of(at)
  local zoom, revision
  if at.zoom and not by_names and at.zoom.of == keys_basis(at) then
    zoom, revision = at.zoom.keys, at.answer.revision
  elseif at.zoom then
    zoom = { names = at.zoom.names }
  end
  return {
    profile = at.profile,
    spec = at.spec,
    viewport = { width = width * per_cell, minWidth = 1, maxBoxes = MOST_BOXES },
    zoom = zoom,
    revision = revision,
    search = at.search,
    details = true,
    nodes = false,
    colorSpread = vim.startswith(session.uri or '', 'aggregate:') and 'variation' or nil,
    panelId = 'flame',
  }
end

--- What of a search has no box of its own: asked for when the picture is there, which does not wait for it.
---@param at profd.Flame
---@param asked integer
---@param params profd.FlameGraphParams
local function ask_hidden(at, asked, params)
  params.panelId = 'flame-hidden'
  client.request(protocol.methods.hidden_matches, params, function(result)
    if result and shown == at and at.asked == asked and vim.api.nvim_buf_is_valid(at.bufnr) then
      at.hidden = result
      paint(at)
    end
  end)
end

--- Asks for what is to be looked at; `done` runs when it is the newest answer.
---@param at profd.Flame
---@param done fun()
local function ask(at, done)
  at.asked = at.asked + 1
  local asked = at.asked
  local function is_old()
    return shown ~= at or at.asked ~= asked or (at.bufnr ~= -1 and not vim.api.nvim_buf_is_valid(at.bufnr))
  end
  session.filters(function(filters)
    if is_old() then
      return
    end
    at.spec = table.concat(vim.list_extend({ at.shape .. ' by function' }, filters), ' | ')
    local function request(by_names)
      local params = params_of(at, by_names)
      client.request(protocol.methods.flame_graph, params, function(result, err)
        if is_old() then
          return
        elseif err and type(params.zoom) == 'table' and not params.zoom.names then
          return request(true) -- the profile was recorded again, or the box is gone: names still say where it was
        elseif err then
          at.search = at.searched -- it may be no expression
          return log.error(session.sentence(err))
        end
        ---@cast result profd.FlameGraphResult
        at.answer, at.hidden, at.filters, at.searched = result, nil, filters, at.search
        if at.zoom then
          local keys = result.zoomPath or at.zoom.keys
          local names = page_of.first_names(result, #keys)
          at.zoom = #keys > 0 and { keys = keys, names = names, of = keys_basis(at), before = at.zoom.before } or nil
        end
        done()
        if at.search then
          ask_hidden(at, asked, params)
        end
      end)
    end
    request(false)
  end)
end

local function ask_and_paint()
  local at = shown
  ask(at, function()
    paint(at)
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
  return #keys > 0 and { keys = keys, names = names, of = keys_basis(shown) } or nil
end

--- <CR>: closer to a box; of what was joined, to what it is part of.
local function enter()
  local item = item_at(shown)
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
  item_at(shown)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local item = page_of.beside(shown.page, line, shown.part, step * vim.v.count1)
  if item then
    go_to(shown, line, item)
    tell(shown)
  end
end

--- j: to the widest box that is below the one under the cursor; where none is, down a line.
local function below()
  for _ = 1, vim.v.count1 do
    local item = item_at(shown)
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local child = item and page_of.widest_child(shown.page, shown.answer, line, item)
    if not child then
      vim.cmd('normal! j')
      break
    end
    go_to(shown, line + 1, child)
  end
  tell(shown)
end

--- k: to the box that the one under the cursor is part of.
local function above()
  for _ = 1, vim.v.count1 do
    local item = item_at(shown)
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local parent = item and page_of.find(shown.page, line - 1, item.from)
    if not parent then
      vim.cmd('normal! k')
      break
    end
    go_to(shown, line - 1, parent)
  end
  tell(shown)
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
  for i, colors in ipairs(page_of.COLORS) do
    if colors == shown.colors then
      shown.colors = page_of.COLORS[i % #page_of.COLORS + 1]
      break
    end
  end
  paint(shown)
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
    go_to(at, line, found)
    return tell(at)
  end
  local function closer()
    -- The names on the way to it are not known: the next answer has them.
    look({ keys = path, names = {}, of = keys_basis(at), before = at.zoom or false })
  end
  if not at.zoom or at.zoom.before == nil then
    return closer()
  end
  at.zoom, at.goto_keys = at.zoom.before or nil, path
  ask(at, function()
    if page_of.has(at.answer, path) then
      paint(at)
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
  local item = item_at(at)
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
  local item = shown and item_at(shown)
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

---@param bufnr integer
local function prepare(bufnr)
  keys_of.map(bufnr, 'Flame graph', keys, function()
    return shown ~= nil and shown.page ~= nil
  end)
  place.set_row(bufnr, row_at)
  local group = vim.api.nvim_create_augroup('profd.flame', {})
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    buffer = bufnr,
    callback = function()
      if shown and shown.page and shown.bufnr == bufnr then
        tell(shown)
      end
    end,
  })
  -- What happened while it was not to be seen.
  vim.api.nvim_create_autocmd('BufWinEnter', { group = group, buffer = bufnr, callback = M.refresh })
  vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
    group = group,
    callback = function()
      timer = timer or assert(vim.uv.new_timer())
      timer:start(RESIZE_DELAY_MS, 0, vim.schedule_wrap(M.refit))
    end,
  })
end

---@return boolean
local function on_screen()
  return shown ~= nil and vim.api.nvim_buf_is_valid(shown.bufnr) and vim.fn.bufwinid(shown.bufnr) ~= -1
end

--- The window may have another width now.
function M.refit()
  if on_screen() and shown.page and session.profile then
    local width, per_cell = room_of(shown)
    if width * per_cell ~= shown.page.parts then
      ask_and_paint()
    end
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  if not on_screen() or not session.profile then
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
    if on_screen() then
      vim.api.nvim_set_current_win(vim.fn.bufwinid(shown.bufnr))
      return M.refresh()
    end
    local before = shown
    ---@type profd.Flame
    local at = {
      bufnr = -1,
      profile = session.profile,
      shape = before and before.shape or 'top-down',
      colors = before and before.colors or page_of.COLORS[1],
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
    ask(at, function()
      at.bufnr = scratch.show(NAME, { '' }, { filetype = 'profd-flame' })
      vim.bo[at.bufnr].undolevels = -1
      vim.wo[0][0].cursorline = false
      prepare(at.bufnr)
      at.goto_keys = at.zoom and at.zoom.keys or {}
      paint(at)
      if not vim.w.profd_before then
        vim.api.nvim_win_set_height(0, math.min(#at.page.lines + 1, math.floor(vim.o.lines * 0.6)))
      end
      vim.fn.winrestview({ topline = 1 })
      M.refit()
    end)
  end)
end

return M
