--- What lines cost, at their ends. The server says which lines speak and what they say.
local M = {}

local client = require('profd.client')
local config = require('profd.config')
local events = require('profd.events')
local heat = require('profd.heat')
local log = require('profd.log')
local project = require('profd.project')
local protocol = require('profd.protocol')
local session = require('profd.session')
local signs = require('profd.signs')

local EDIT_DELAY_MS = 200
local CONTENT_MODIFIED = protocol.ErrorCodes.contentModified
local GAP = 2

M.namespace = vim.api.nvim_create_namespace('profd.hints')

---@class profd.BufferHints
---@field asked integer counts requests: only the newest answer is painted
---@field painted? string what the hints on the screen are of
---@field timer? uv.uv_timer_t
---@field result? profd.SourceAnnotationsResult
---@field has_signs? boolean signs are painted
---@field index table<integer, integer> of what is painted: its mark to its line in the result

---@type table<integer, profd.BufferHints>
local buffers = {}
local enabled = true

--- Whether hints are wanted in a buffer: what was said of it (`b:profd_hints`), else of all.
---@param bufnr integer
---@return boolean
local function is_on(bufnr)
  local own = vim.b[bufnr].profd_hints
  if type(own) == 'boolean' then
    return own
  end
  return enabled
end

---@param bufnr integer
---@return profd.BufferHints
local function hints_of(bufnr)
  buffers[bufnr] = buffers[bufnr] or { asked = 0, index = {} }
  return buffers[bufnr]
end

--- What hints would be of if they were asked for now.
---@return string
local function wanted()
  return table.concat({ session.profile or '', session.revision, config.current.threshold or '' }, '|')
end

---@class profd.Hint
---@field line integer 0-based
---@field text string
---@field group string
---@field number_group? string
---@field sign? profd.Sign

--- How a line is coloured: what its hint, its number and its sign have.
---@param lines profd.AnnotationColumns
---@param i integer
---@param opts profd.Config
---@return {group: string, number_group?: string, sign?: profd.Sign}
local function look_of(lines, i, opts)
  local strength = lines.strength and lines.strength[i]
  -- The lines of a diff are of two texts, and often not certain: their texts say so, and colour says which way.
  if lines.stale[i] and not strength then
    return { group = 'ProfdStale' }
  end
  if strength == 0 then
    return { group = 'ProfdQuiet' }
  end
  local less = strength and strength < 0
  local level = heat.level(strength and math.abs(strength) or lines.heat[i])
  return {
    group = opts.heat and (less and 'ProfdLess' or 'ProfdHeat') .. level or 'ProfdHint',
    number_group = opts.number_heat and (less and 'ProfdNumberLess' or 'ProfdNumber') .. level or nil,
    sign = signs.of(opts.signs, strength, level, heat.LEVELS),
  }
end

--- The hints of an answer, their shares flush right below each other.
---@param lines profd.AnnotationColumns
---@param opts profd.Config
---@return profd.Hint[]
function M.compose(lines, opts)
  local hints, widest = {}, 0
  local function share_width(text)
    local stop = text:find('%%', 1)
    return stop and vim.api.nvim_strwidth(text:sub(1, stop)) or 0
  end
  for i, text in ipairs(lines.text) do
    local hint = look_of(lines, i, opts) --[[@as profd.Hint]]
    hint.line, hint.text = lines.line[i], text:gsub('%c', ' ')
    hints[i] = hint
    widest = math.max(widest, share_width(hints[i].text))
  end
  for _, hint in ipairs(hints) do
    local width = share_width(hint.text)
    local padding = width > 0 and (' '):rep(widest - width) or ''
    hint.text = ' ' .. padding .. hint.text .. ' '
  end
  return hints
end

--- The column where the hints of a file start: right of the longest line that has one, within reason.
---@param bufnr integer
---@param hints profd.Hint[]
---@return integer[] width of each hint's line
---@return integer column
local function measure(bufnr, hints)
  local widths, column = {}, 0
  vim.api.nvim_buf_call(bufnr, function()
    for i, hint in ipairs(hints) do
      local text = vim.api.nvim_buf_get_lines(bufnr, hint.line, hint.line + 1, false)[1] or ''
      widths[i] = #text > 1000 and 1000 or vim.fn.strdisplaywidth(text)
      if widths[i] <= config.current.align_max then
        column = math.max(column, widths[i])
      end
    end
  end)
  return widths, column
end

--- What of a hint fits: all of it, then up to its value, then the share alone.
---@param text string
---@param room integer
---@return string text
---@return boolean fits
function M.shorten(text, room)
  local share = text:match('^.-%%') or text
  local text_of = { text, (text:gsub(' · .*$', ' ')), share .. ' ' }
  for _, form in ipairs(text_of) do
    if vim.api.nvim_strwidth(form) <= room then
      return form, true
    end
  end
  return text_of[#text_of], false
end

--- The room for text in the narrowest window of this tab page that shows the buffer.
---@param bufnr integer
---@return integer columns
---@return boolean wrap
local function narrowest(bufnr)
  local columns, wrap = math.huge, false
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == bufnr then
      local info = vim.fn.getwininfo(window)[1]
      if info and info.width - info.textoff < columns then
        columns, wrap = info.width - info.textoff, vim.wo[window].wrap
      end
    end
  end
  return columns, wrap
end

---@class profd.HintPlace
---@field width integer of the line's text
---@field column integer where hints start when there is room
---@field columns integer of the window
---@field wrap boolean

--- Chunks and position of a hint. One that would leave the window comes nearer to its line, then says less; beside a
--- line that fills the window, the share alone stands at the edge, over the line's end.
---@param hint profd.Hint
---@param place profd.HintPlace
---@param opts profd.Config
---@return {[1]: string, [2]: string?}[] chunks
---@return string position
function M.place(hint, place, opts)
  local used = place.width
  if place.wrap and place.columns < math.huge and used > place.columns then
    used = (used - 1) % place.columns + 1
  end
  local free = place.columns - used
  if opts.position ~= 'eol' then
    return { { (M.shorten(hint.text, free)), hint.group } }, opts.position
  end
  -- Neovim itself leaves one column after the text.
  local least = GAP - 1
  free = free - 1
  local text, fits = M.shorten(hint.text, free - least)
  if not fits then
    return { { text, hint.group } }, 'right_align'
  end
  local gap = opts.align and math.max(place.column - place.width, 0) + least or least
  gap = math.max(math.min(gap, free - vim.api.nvim_strwidth(text)), least)
  return { { (' '):rep(gap) }, { text, hint.group } }, 'eol'
end

local repaint_beside_signs

---@param bufnr integer
---@param state profd.BufferHints
---@param result profd.SourceAnnotationsResult
local function paint(bufnr, state, result)
  local opts = config.current
  state.index = {}
  vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  local hints = M.compose(result.lines, opts)
  local widths, column = measure(bufnr, hints)
  local columns, wrap = narrowest(bufnr)
  local n_lines = vim.api.nvim_buf_line_count(bufnr)
  local has_signs = false
  for i, hint in ipairs(hints) do
    if hint.line < n_lines then
      local place = { width = widths[i], column = column, columns = columns, wrap = wrap }
      local chunks, position = M.place(hint, place, opts)
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
      state.index[id] = i
      has_signs = has_signs or hint.sign ~= nil
    end
  end
  if has_signs ~= (state.has_signs or false) then
    state.has_signs = has_signs
    vim.schedule(function()
      repaint_beside_signs(bufnr, state, columns)
    end)
  end
end

--- The column of signs comes and goes with them, and takes room that the hints were given.
---@param bufnr integer
---@param state profd.BufferHints
---@param columns integer that there were
repaint_beside_signs = function(bufnr, state, columns)
  if buffers[bufnr] ~= state or not state.result or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  vim.cmd.redraw() -- how wide the column is shows when it is drawn
  if narrowest(bufnr) ~= columns then
    paint(bufnr, state, state.result)
  end
end

---@param bufnr integer
local function wipe(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, M.namespace, 0, -1)
  end
  local state = buffers[bufnr]
  if state then
    state.asked = state.asked + 1
    state.painted, state.result = nil, nil
  end
end

--- Asks once nobody has asked for this again for a while.
---@param bufnr integer
---@param state profd.BufferHints
local function refresh_later(bufnr, state)
  state.timer = state.timer or assert(vim.uv.new_timer())
  state.timer:start(EDIT_DELAY_MS, 0, function()
    vim.schedule(function()
      if buffers[bufnr] == state then
        M.refresh(bufnr)
      end
    end)
  end)
end

---@param bufnr integer
---@param state profd.BufferHints
---@param retries integer
local function ask(bufnr, state, retries)
  state.asked = state.asked + 1
  local asked, of = state.asked, wanted()
  ---@type profd.SourceAnnotationsParams
  local params = {
    profile = session.profile,
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    threshold = config.current.threshold,
  }
  client.request(protocol.methods.source_annotations, params, function(result, err)
    if state.asked ~= asked or not vim.api.nvim_buf_is_loaded(bufnr) or not is_on(bufnr) then
      return
    end
    if err then
      if err.code == CONTENT_MODIFIED and retries > 0 then
        ask(bufnr, state, retries - 1)
      elseif err.code == CONTENT_MODIFIED then
        refresh_later(bufnr, state)
      end
      return -- kept in the log; a broken refresh must not interrupt typing
    end
    ---@cast result profd.SourceAnnotationsResult
    state.painted, state.result = of, result
    session.saw_metric(result.metric)
    paint(bufnr, state, result)
    vim.api.nvim_exec_autocmds('User', { pattern = 'ProfdHints', data = { buf = bufnr }, modeline = false })
  end, bufnr)
end

--- Asks the server again, if the buffer is on the screen.
---@param bufnr integer
function M.refresh(bufnr)
  if not client.get() or not project.is_source(bufnr) or vim.fn.bufwinid(bufnr) == -1 then
    return
  end
  client.attach(bufnr)
  if not session.profile or not is_on(bufnr) then
    return wipe(bufnr)
  end
  ask(bufnr, hints_of(bufnr), 1)
end

--- Every buffer on the screen now, the others when they come to it.
function M.refresh_all()
  require('profd.hover').refresh()
  for _, state in pairs(buffers) do
    state.painted = nil
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      M.refresh(bufnr)
      if not session.profile or not is_on(bufnr) then
        wipe(bufnr)
      end
    end
  end
  -- Only where it was asked for.
  local views = { 'analyse', 'annotate', 'flame', 'report', 'sets', 'timeline', 'tree' }
  for _, name in ipairs(views) do
    local view = package.loaded['profd.' .. name]
    if view then
      view.refresh()
    end
  end
end

---@param value boolean
---@param bufnr? integer this buffer alone
function M.set_enabled(value, bufnr)
  if bufnr then
    vim.b[bufnr].profd_hints = nil -- as the others, where that is what is wanted
    if value ~= enabled then
      vim.b[bufnr].profd_hints = value
    end
    M.refresh(bufnr)
  else
    enabled = value
    M.refresh_all()
  end
  events.changed('hints')
end

---@param bufnr? integer
---@return boolean
function M.is_enabled(bufnr)
  if bufnr then
    return is_on(bufnr)
  end
  return enabled
end

---@class profd.HotLine
---@field line integer 1-based, where the line is now
---@field text string what its hint says
---@field heat number 0 to 1, next to the hottest line of the file; in a diff how much it changed, below 0 where it costs less
---@field stale boolean the line is not as it was measured

--- The lines of a buffer that have a hint, from top to bottom.
---@param bufnr integer 0: the current one
---@param only? integer a line, 1-based
---@return profd.HotLine[]
function M.lines(bufnr, only)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local state = buffers[bufnr]
  if not state or not state.result then
    return {}
  end
  local lines = state.result.lines
  local from, to = only and { only - 1, 0 } or 0, only and { only - 1, -1 } or -1
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, M.namespace, from, to, { details = true })) do
    local i = state.index[mark[1]]
    if i and not mark[4].invalid then
      found[#found + 1] = {
        line = mark[2] + 1,
        text = log.one_line(lines.text[i]),
        heat = lines.strength and lines.strength[i] or lines.heat[i],
        stale = lines.stale[i],
      }
    end
  end
  return found
end

--- The last answer for a buffer, for :checkhealth.
---@param bufnr integer
---@return profd.SourceAnnotationsResult?
function M.result(bufnr)
  return buffers[bufnr] and buffers[bufnr].result
end

---@param bufnr integer
local function entered(bufnr)
  if client.get() and hints_of(bufnr).painted ~= wanted() then
    M.refresh(bufnr)
  end
end

--- Extmarks move with the text at once; the server then says what became stale.
---@param bufnr integer
local function edited(bufnr)
  local state = buffers[bufnr]
  -- Also while the first answer is on its way: it may be of the text before.
  if state and state.asked > 0 and session.profile and is_on(bufnr) then
    refresh_later(bufnr, state)
  end
end

--- What the last answers said, in the windows as they are now.
local function repaint_all()
  for bufnr, state in pairs(buffers) do
    if
      state.result
      and state.painted
      and vim.api.nvim_buf_is_loaded(bufnr)
      and is_on(bufnr)
      and vim.fn.bufwinid(bufnr) ~= -1
    then
      paint(bufnr, state, state.result)
    end
  end
end

---@param bufnr integer
local function gone(bufnr)
  local state = buffers[bufnr]
  if state and state.timer then
    state.timer:close()
  end
  buffers[bufnr] = nil
end

local group = vim.api.nvim_create_augroup('profd', {})

---@param events string[]
---@param action fun(bufnr: integer)
local function on(events, action)
  vim.api.nvim_create_autocmd(events, {
    group = group,
    callback = function(event)
      action(event.buf)
    end,
  })
end

on({ 'BufReadPost', 'BufEnter', 'BufWinEnter' }, entered)
on({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, edited)
on({ 'BufUnload' }, gone)
-- What fits beside the code changes with the windows.
on({ 'WinResized', 'VimResized', 'WinClosed' }, function()
  vim.schedule(repaint_all)
end)
vim.api.nvim_create_autocmd('OptionSet', {
  group = group,
  pattern = { 'wrap', 'number', 'relativenumber', 'signcolumn', 'foldcolumn', 'tabstop', 'numberwidth' },
  callback = function()
    vim.schedule(repaint_all)
  end,
})
on({ 'ColorScheme' }, heat.apply)
vim.api.nvim_create_autocmd('OptionSet', { group = group, pattern = 'background', callback = heat.apply })
heat.apply()

return M
