--- What lines cost, at their ends. The server says which lines speak and what they say.
local M = {}

local client = require('profd.client')
local config = require('profd.config')
local events = require('profd.events')
local heat = require('profd.heat')
local marks_of = require('profd.hint_marks')
local log = require('profd.log')
local place = require('profd.hint_place')
local project = require('profd.project')
local protocol = require('profd.protocol')
local session = require('profd.session')

local EDIT_DELAY_MS = 200
local CONTENT_MODIFIED = protocol.ErrorCodes.contentModified

M.namespace = marks_of.namespace

---@class profd.BufferHints
---@field asked integer counts requests: only the newest answer is painted
---@field painted? string what the hints on the screen are of
---@field timer? uv.uv_timer_t
---@field result? profd.SourceAnnotationsResult
---@field marks profd.HintMarks what is on the screen
---@field owed? boolean an edit left the hints as they are, as far as can be told here: the server is asked when the typing ends

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
  buffers[bufnr] = buffers[bufnr] or { asked = 0, marks = marks_of.new() }
  return buffers[bufnr]
end

--- What hints would be of if they were asked for now.
---@return string
local function wanted()
  return table.concat({ session.profile or '', session.revision, config.current.threshold or '' }, '|')
end

local repaint_beside_signs

---@param bufnr integer
---@param state profd.BufferHints
---@param anew? boolean
local function paint(bufnr, state, anew)
  local had_signs = state.marks.has_signs
  marks_of.paint(bufnr, state.marks, state.result.lines, anew)
  if state.marks.has_signs ~= had_signs then
    local columns = state.marks.room.columns
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
  if place.narrowest(bufnr) ~= columns then
    paint(bufnr, state)
  end
end

---@param bufnr integer
local function wipe(bufnr)
  local state = buffers[bufnr]
  if state then
    if vim.api.nvim_buf_is_valid(bufnr) then
      marks_of.clear(bufnr, state.marks)
    end
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
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  state.owed, state.marks.touched = nil, false
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
      state.marks.touched = true
      if err.code == CONTENT_MODIFIED and retries > 0 then
        ask(bufnr, state, retries - 1)
      elseif err.code == CONTENT_MODIFIED then
        refresh_later(bufnr, state)
      end
      return -- kept in the log; a broken refresh must not interrupt typing
    end
    ---@cast result profd.SourceAnnotationsResult
    local is_late = vim.api.nvim_buf_get_changedtick(bufnr) ~= tick
    if is_late then
      refresh_later(bufnr, state)
    end
    if is_late and state.painted == of then
      return -- the marks have moved with the text, which the answer knows nothing of
    end
    state.painted, state.result = of, result
    session.saw_metric(result.metric)
    marks_of.watch(bufnr, state.marks, function()
      return buffers[bufnr] == state
    end)
    paint(bufnr, state)
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
    local i = state.marks.index[mark[1]]
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

--- Marks move with the text at once; the server then says what became stale.
---@param bufnr integer
---@param typing boolean
local function edited(bufnr, typing)
  local state = buffers[bufnr]
  -- Also while the first answer is on its way: it may be of the text before.
  if not state or state.asked == 0 or not session.profile or not is_on(bufnr) then
    return
  end
  local waits = state.timer and state.timer:is_active()
  if typing and not waits and state.marks.watched and not state.marks.touched then
    state.owed = true -- no hint stands on what is typed, and no line came or went
  else
    refresh_later(bufnr, state)
  end
end

---@param bufnr integer
local function typing_ended(bufnr)
  local state = buffers[bufnr]
  if state and state.owed then
    state.owed = nil
    edited(bufnr, false)
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
      paint(bufnr, state, true)
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
on({ 'TextChanged' }, function(bufnr)
  edited(bufnr, false)
end)
on({ 'TextChangedI', 'TextChangedP' }, function(bufnr)
  edited(bufnr, true)
end)
vim.api.nvim_create_autocmd('ModeChanged', {
  group = group,
  pattern = '[iR]*:*',
  callback = function(event)
    typing_ended(event.buf)
  end,
})
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
