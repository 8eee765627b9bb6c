--- The page of `:Profd annotate`: instructions below the source lines that they are of, and where each row stands.
local M = {}

local heat = require('profd.heat')
local log = require('profd.log')
local session = require('profd.session')

local namespace = vim.api.nvim_create_namespace('profd.annotate')

---@class profd.Annotated what is shown
---@field bufnr integer of the instructions
---@field source integer the buffer that it was asked from
---@field answer profd.SourceDisassemblyResult
---@field params profd.SourceDisassemblyParams as the user meant it
---@field place? integer the mark in `source` that its position moves with
---@field asked integer counts requests: only the newest answer is shown
---@field missed? boolean something changed while nobody looked
---@field outdated? string why the rows are not those of what is shown now
---@field line_of_row integer[] by row, 1-based: its line in the buffer
---@field row_of_line table<integer, integer> by line: its row, 1-based
---@field source_files table<integer, boolean> which of `answer.files` the source is, 0-based

--- Which files of the answer a buffer is: as the daemon found them, whatever links lead there.
---@param answer profd.SourceDisassemblyResult
---@param bufnr integer
---@return table<integer, boolean> by index, 0-based
function M.files_of(answer, bufnr)
  local function real(path)
    return vim.uv.fs_realpath(path) or vim.fs.normalize(path)
  end
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return {}
  end
  local path, found = real(vim.api.nvim_buf_get_name(bufnr)), {}
  for i, uri in ipairs(answer.fileUris) do
    if uri ~= vim.NIL and real(vim.uri_to_fname(uri)) == path then
      found[i - 1] = true
    end
  end
  return found
end

--- The line of the source that is beside, where a row has one there.
---@param at profd.Annotated
---@param row integer
---@return integer?
function M.source_line(at, row)
  local rows = at.answer.rows
  return at.source_files[rows.file[row]] and rows.line[row] > 0 and rows.line[row] or nil
end

---@param at profd.Annotated
---@param row integer
---@return string
local function source_text(at, row)
  local number = M.source_line(at, row)
  local line = number and vim.api.nvim_buf_get_lines(at.source, number - 1, number, false)[1]
  return line and '  ' .. vim.trim(line) or ''
end

---@param at profd.Annotated
---@return string[]
local function head_of(at)
  local answer = at.answer
  local piece = answer.pieces[answer.piece + 1]
  local lines = {
    ('%s  %s of %s self %s, total %s  %s+%s, %d bytes'):format(
      piece.name,
      answer.metric,
      session.name,
      piece.self.shareText or piece.self.text,
      piece.total.shareText or piece.total.text,
      piece.module,
      piece.start,
      piece.size
    ),
  }
  if at.outdated then
    lines[#lines + 1] = 'of before: ' .. at.outdated
  end
  if answer.filters and #answer.filters > 0 then
    lines[#lines + 1] = 'filters: ' .. table.concat(answer.filters, ' | ')
  end
  if #answer.pieces > 1 then
    lines[#lines + 1] = ('piece %d of %d; <Tab> shows the next'):format(answer.piece + 1, #answer.pieces)
  end
  local seen = answer.branches and answer.branches.text
  for _, note in ipairs({ answer.skid or false, answer.note or false, seen or false }) do
    lines[#lines + 1] = note or nil
  end
  for _, rest in ipairs(answer.rest or {}) do
    lines[#lines + 1] = ('%s: %s'):format(rest.amount.text, rest.text)
  end
  return lines
end

--- What branch stacks saw of branches, by row, 1-based; of several places a row led to the first.
---@param answer profd.SourceDisassemblyResult
---@return table<integer, string>
local function taken_of(answer)
  local found = {}
  local taken = answer.branches and answer.branches.taken
  for i, row in ipairs(taken and taken.row or {}) do
    local at = row - answer.offset + 1
    local more = found[at] and not vim.endswith(found[at], ' …') and ' …' or ''
    found[at] = found[at] and found[at] .. more or taken.text[i]
  end
  return found
end

--- Lines of the buffer; `at` learns anew where rows are.
---@param at profd.Annotated
---@return string[]
function M.lines_of(at)
  local answer = at.answer
  local rows = answer.rows
  at.line_of_row, at.row_of_line = {}, {}
  local lines = vim.tbl_map(log.one_line, head_of(at))
  lines[#lines + 1] = ''
  local headings = {}
  for i, first in ipairs(answer.headings.first) do
    headings[math.max(first, answer.offset) - answer.offset + 1] = answer.headings.text[i]
  end
  local taken = taken_of(answer)
  for row = 1, #rows.text do
    if headings[row] then
      lines[#lines + 1] = (' '):rep(rows.executedText and 36 or 26)
        .. log.one_line(headings[row] .. source_text(at, row))
    end
    local target = rows.targetName[row]
    local text = rows.text[row] .. (target ~= '' and '  ' .. target or '')
    local branches = taken[row] and '  ; ' .. taken[row] or ''
    lines[#lines + 1] = ('%8s %8s%s  %-6s %s'):format(
      rows.selfShare[row],
      rows.totalShare[row],
      rows.executedText and ('%10s'):format(rows.executedText[row]) or '',
      '+' .. rows.offset[row],
      log.one_line(text .. branches)
    )
    at.line_of_row[row] = #lines
    at.row_of_line[#lines] = row
  end
  return lines
end

---@param at profd.Annotated
function M.paint(at)
  vim.api.nvim_buf_clear_namespace(at.bufnr, namespace, 0, -1)
  for row, line in ipairs(at.line_of_row) do
    local hot = at.answer.rows.heat[row]
    local group = at.outdated and 'ProfdStale' or hot > 0 and 'ProfdHeat' .. heat.level(hot) or 'ProfdQuiet'
    vim.api.nvim_buf_set_extmark(at.bufnr, namespace, line - 1, 0, { end_col = 17, hl_group = group })
  end
  local first = vim.api.nvim_buf_get_lines(at.bufnr, 0, 1, false)[1] or ''
  vim.api.nvim_buf_set_extmark(at.bufnr, namespace, 0, 0, { end_col = #first, hl_group = 'ProfdTitle' })
  local source = {}
  for line = 2, vim.api.nvim_buf_line_count(at.bufnr) do
    if not at.row_of_line[line] then
      source[#source + 1] = line
    end
  end
  for _, line in ipairs(source) do
    vim.api.nvim_buf_set_extmark(at.bufnr, namespace, line - 1, 0, { line_hl_group = 'ProfdQuiet' })
  end
end

return M
