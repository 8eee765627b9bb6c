--- `:Profd record`: runs a command under a profiler, in a terminal below the code, and shows what came of it.
local M = {}

local events = require('profd.events')
local log = require('profd.log')
local recordings = require('profd.recordings')
local session = require('profd.session')

local KEPT_OUTPUT_BYTES = 64 * 1024
local SECOND_MS = 1000
local NAME = 'profd://record'

---@class profd.RecordRun
---@field title string the command, for people
---@field bufnr integer of the terminal
---@field job integer
---@field began integer nanoseconds
---@field timer uv.uv_timer_t
---@field place string of the project's recordings
---@field known table<string, boolean> recordings that were there before
---@field output string the end of what was printed

---@type profd.RecordRun?
local run
---@type integer? the terminal of the last run
local last_terminal

---@param at profd.RecordRun
---@return string
local function elapsed(at)
  local seconds = math.floor((vim.uv.hrtime() - at.began) / 1e9)
  return seconds < 120 and ('%d s'):format(seconds) or ('%d min'):format(math.floor(seconds / 60))
end

--- What is recorded just now, for status lines.
---@return string?
function M.running()
  return run and ('● recording %s %s'):format(run.title, elapsed(run)) or nil
end

--- A line over the terminal, in every window that shows it.
---@param bufnr integer
---@param text string
local function set_bar(bufnr, text)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.wo[window][0].winbar = log.one_line(text):gsub('%%', '%%%%')
  end
end

---@param at profd.RecordRun
local function tick(at)
  set_bar(at.bufnr, M.running() .. ' · <C-c> ends it')
  vim.cmd.redrawstatus()
end

--- What profd itself said last: lines of others may begin otherwise.
---@param output string
---@return string?
local function cause_in(output)
  local cause
  for line in output:gsub('\27%[[%d;]*m', ''):gmatch('[^\r\n]+') do
    cause = line:match('^profd: (.+)') or cause
  end
  return cause
end

--- How long the run before took, this one, and the change, as profd said it.
---@param output string
---@return string?
local function comparison_in(output)
  local before, now, change
  for line in output:gsub('\27%[[%d;]*m', ''):gmatch('[^\r\n]+') do
    local a, b, c = line:match('^The run before took (.-), this one (.-)( ?%(?[^()]*%)?): profd diff ')
    if a then
      before, now, change = a, b, c
    end
  end
  if before then
    local by = change:match('%((.*)%)')
    return ('took %s%s (%s before; :Profd changes)'):format(now, by and ', ' .. by or '', before)
  end
end

---@param at profd.RecordRun
---@return profd.Recording?
local function new_recording(at)
  for _, name in ipairs(recordings.names(at.place)) do
    if not at.known[name] then
      return recordings.read(at.place, name)
    end
  end
end

---@param at profd.RecordRun
---@param recording profd.Recording
local function show(at, recording)
  session.open(recording.profile --[[@as string]], function(result)
    -- What is at the end is cut off where there is no room.
    local notes = {}
    local compared, before = comparison_in(at.output), recordings.before(at.place, recording)
    if compared and before then
      notes[#notes + 1] = compared
      session.recorded_again = {
        profile = result.profile,
        revision = result.revision,
        text = compared,
        before = vim.uri_from_fname(before.profile --[[@as string]]),
      }
    end
    if recording.exit_code ~= 0 then
      notes[#notes + 1] = ('exit code %d'):format(recording.exit_code)
    end
    local glance = session.glance(result.summary)
    session.first_said = compared or glance
    notes[#notes + 1] = glance
    log.info(table.concat(notes, '; '))
  end)
end

---@param at profd.RecordRun
---@param code integer
local function ended(at, code)
  at.timer:close()
  run = nil
  set_bar(at.bufnr, ('%s ended after %s · r records it again, q closes'):format(at.title, elapsed(at)))
  events.changed('recording')
  local recording = new_recording(at)
  local cause = cause_in(at.output)
  local is_empty = not recording or not recording.profile or code ~= 0 and cause and (recording.samples or 0) == 0
  if is_empty then
    return log.error(('%s: %s'):format(at.title, cause or ('nothing was recorded, exit code %d'):format(code)))
  end
  show(at, recording)
end

--- The window of the last terminal, or a new one below the code.
---@param bufnr integer
local function show_terminal(bufnr)
  local before = last_terminal
  local window = before and vim.api.nvim_buf_is_valid(before) and vim.fn.bufwinid(before) or -1
  if window == -1 then
    vim.cmd(('botright %dsplit'):format(math.max(5, math.min(12, math.floor(vim.o.lines / 3)))))
  else
    vim.api.nvim_set_current_win(window)
  end
  vim.api.nvim_win_set_buf(0, bufnr)
  if before and vim.api.nvim_buf_is_valid(before) then
    vim.api.nvim_buf_delete(before, { force = true })
  end
  last_terminal = bufnr
end

---@param at profd.RecordRun
local function map_keys(at)
  for key, map in pairs({
    ['<C-c>'] = {
      function()
        if run == at then
          vim.fn.chansend(at.job, '\3')
        end
      end,
      'end the program',
    },
    r = { M.again, 'record it again' },
    q = { require('profd.scratch').close, 'close' },
  }) do
    vim.keymap.set('n', key, map[1], { buffer = at.bufnr, desc = map[2] })
  end
end

--- Starts it in a terminal; the cursor stays where it is.
---@param command string|string[] a string is for the shell
---@param title string
local function start(command, title)
  if run then
    return log.error(('%s is recorded just now; <C-c> in its window ends it'):format(run.title))
  end
  local cmd = require('profd.config').current.cmd[1]
  if vim.fn.executable(cmd) == 0 then
    return log.error(('%s is not an executable; install profd or set `cmd` (:help profd-install)'):format(cmd))
  end
  local code_window, mode = vim.api.nvim_get_current_win(), vim.api.nvim_get_mode().mode
  local place = recordings.place(vim.fn.getcwd())
  local known = {}
  for _, name in ipairs(recordings.names(place)) do
    known[name] = true
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  show_terminal(bufnr)
  ---@type profd.RecordRun
  local at = {
    title = log.one_line(title),
    bufnr = bufnr,
    job = 0,
    began = vim.uv.hrtime(),
    timer = assert(vim.uv.new_timer()),
    place = place,
    known = known,
    output = '',
  }
  run = at
  local options = {
    on_stdout = function(_, data)
      at.output = (at.output .. table.concat(data, '\n')):sub(-KEPT_OUTPUT_BYTES)
    end,
    on_exit = function(_, code)
      vim.schedule(function()
        ended(at, code)
      end)
    end,
  }
  if vim.fn.has('nvim-0.11') == 1 then
    options.term = true
    at.job = vim.fn.jobstart(command, options)
  else
    at.job = vim.fn.termopen(command, options)
  end
  map_keys(at)
  vim.api.nvim_buf_set_name(bufnr, NAME)
  for option, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    spell = false,
  }) do
    vim.wo[0][0][option] = value
  end
  vim.cmd('normal! G') -- the window follows what is printed
  if vim.api.nvim_win_is_valid(code_window) then
    vim.api.nvim_set_current_win(code_window)
    if mode == 'n' then
      vim.cmd.stopinsert() -- many start it in every terminal, and it would be in the code
    end
  end
  at.timer:start(0, SECOND_MS, function()
    vim.schedule(function()
      if run == at then
        tick(at)
      end
    end)
  end)
  events.changed('recording')
end

--- `:Profd record [COMMAND]`: what is typed is for the shell, as after `:terminal`; words with `-` before the command are
--- options of `profd record`. Without a command, asks.
---@param command? string `again`: the last one
function M.run(command)
  if not command then
    return vim.ui.input({ prompt = 'Record the command: ', completion = 'shellcmd' }, function(typed)
      if typed and vim.trim(typed) ~= '' then
        M.run(vim.trim(typed))
      end
    end)
  elseif command == 'again' then
    return M.again()
  end
  local profd = vim.fn.shellescape(require('profd.config').current.cmd[1])
  start(profd .. ' record ' .. (vim.startswith(command, '-') and '' or '-- ') .. command, command)
end

--- The command of the newest recording once more; profd runs it when it was typed here.
function M.again()
  local place = recordings.place(vim.fn.getcwd())
  local newest
  for _, name in ipairs(recordings.names(place)) do
    newest = newest or recordings.read(place, name)
  end
  if not newest then
    return log.error('there is no recording here to repeat; :Profd record COMMAND makes one')
  end
  start({ require('profd.config').current.cmd[1], 'record', '--again' }, table.concat(newest.argv, ' '))
end

M.pick = recordings.pick

return M
