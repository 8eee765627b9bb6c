--- `:Profd report`: sections, functions and where within them their cost is, to read from top to bottom.
local M = {}

local client = require('profd.client')
local jump = require('profd.jump')
local keys_of = require('profd.keys')
local log = require('profd.log')
local protocol = require('profd.protocol')
local scratch = require('profd.scratch')
local session = require('profd.session')
local window = require('profd.view_window')

local NAME = 'profd://report'
local namespace = vim.api.nvim_create_namespace('profd.report')

---@class profd.Reported what is shown
---@field bufnr integer
---@field answer profd.ReportResult
---@field params profd.ReportParams as the user meant it
---@field heads integer lines above those of the answer

---@type profd.Reported?
local shown

---@param params profd.ReportParams
---@param done fun(answer: profd.ReportResult)
local function ask(params, done)
  params.profile = session.profile
  client.request(protocol.methods.report, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    done(result)
  end)
end

---@param answer profd.ReportResult
---@return string[]
local function head_of(answer)
  local lines = { ('%s of %s'):format(answer.metric, session.name or answer.profile) }
  for _, note in ipairs({ answer.excluded and answer.excluded.text or false, answer.estimated or false }) do
    lines[#lines + 1] = note or nil
  end
  lines[#lines + 1] = '<CR> goes to the source of a row, <Tab> shows where within functions, q closes'
  lines[#lines + 1] = ''
  return vim.tbl_map(log.one_line, lines)
end

--- The row of the answer that a line of the buffer shows, 1-based.
---@param at profd.Reported
---@param line integer
---@return integer?
local function row_at(at, line)
  local row = at.answer.lineRows[line - at.heads]
  return row and row >= 0 and row + 1 or nil
end

---@param at profd.Reported
local function paint(at)
  vim.api.nvim_buf_clear_namespace(at.bufnr, namespace, 0, -1)
  local function line_group(line, group)
    vim.api.nvim_buf_set_extmark(at.bufnr, namespace, line - 1, 0, { line_hl_group = group })
  end
  line_group(1, 'ProfdTitle')
  for line = 2, at.heads do
    line_group(line, 'ProfdHint')
  end
  for i, text in ipairs(at.answer.lines) do
    local line = at.heads + i
    local row = row_at(at, line)
    if not row then
      line_group(line, vim.startswith(text, '% of ') and 'ProfdHint' or 'ProfdTitle')
    elseif at.answer.rows.kind[row] ~= protocol.ReportRowKind['function'] then
      line_group(line, 'ProfdQuiet')
    end
  end
end

---@param at profd.Reported
local function write(at)
  local lines = head_of(at.answer)
  at.heads = #lines
  return vim.list_extend(lines, vim.tbl_map(log.one_line, at.answer.lines))
end

--- <CR>: to the source of the row.
local function to_source()
  local row = shown and row_at(shown, vim.api.nvim_win_get_cursor(0)[1])
  local rows = shown and shown.answer.rows
  local uri = row and shown.answer.fileUris[rows.file[row] + 1] or ''
  if uri == '' then
    local file = row and shown.answer.files[rows.file[row] + 1]
    return log.info(file and log.one_line(file) .. ' is not in the workspace' or 'no source to go to on this line')
  end
  jump.beside(vim.uri_to_fname(uri), rows.line[row])
end

local show

--- <Tab>: with the ranges of every function, and without them.
local function toggle_ranges()
  local here = vim.api.nvim_win_get_cursor(0)[1]
  local row = row_at(shown, here)
  while row and shown.answer.rows.kind[row] == protocol.ReportRowKind.range do
    row = row - 1
  end
  local name = row and shown.answer.rows.name[row]
  local params = vim.tbl_extend('force', shown.params, { ranges = not shown.params.ranges })
  ask(params, function(answer)
    show(answer, params)
    -- The cursor stays with its function.
    for line = shown.heads + 1, vim.api.nvim_buf_line_count(shown.bufnr) do
      local at = row_at(shown, line)
      if at and shown.answer.rows.name[at] == name then
        vim.api.nvim_win_set_cursor(0, { line, 0 })
        break
      end
    end
  end)
end

---@param answer profd.ReportResult
---@param params profd.ReportParams
show = function(answer, params)
  ---@type profd.Reported
  local at = { bufnr = -1, answer = answer, params = params, heads = 0 }
  local lines = write(at)
  at.bufnr = scratch.show(NAME, lines, { filetype = 'profd-report' })
  shown = at
  paint(at)
  keys_of.map(at.bufnr, 'Report', {
    { '<CR>', to_source, 'to the source of a row' },
    { '<Tab>', toggle_ranges, 'where within functions, or not' },
  })
  vim.api.nvim_win_set_cursor(0, { math.min(at.heads + 1, #lines), 0 })
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  window.renew(function()
    return shown
  end, function(at, done)
    ask(at.params, done)
  end, function(at, answer)
    at.answer = answer
    scratch.rewrite(at.bufnr, write(at))
    paint(at)
  end)
end

--- `:Profd within [FUNCTION]`: where within the function its own cost is.
---@param name? string without it the function that costs most on the line of the cursor
function M.within(name)
  if name then
    return M.show(name)
  end
  require('profd.place').function_here(':Profd within main.work', M.show)
end

--- `:Profd report [FUNCTION]`
---@param name? string only this function, with where within it its cost is
function M.show(name)
  session.with_profile(function()
    ---@type profd.ReportParams
    local params = { workspaceFilters = true, ranges = name ~= nil, ['function'] = name }
    ask(params, function(answer)
      show(answer, params)
    end)
  end)
end

return M
