--- `:Profd annotate`: a function as instructions, beside its source. The cursors go with one another.
local M = {}

local client = require('profd.client')
local heat = require('profd.heat')
local log = require('profd.log')
local protocol = require('profd.protocol')
local scratch = require('profd.scratch')
local session = require('profd.session')

local NAME = 'profd://annotate'
local namespace = vim.api.nvim_create_namespace('profd.annotate')
local other_side = vim.api.nvim_create_namespace('profd.annotate.other')

---@class profd.Annotated what is shown
---@field bufnr integer of the instructions
---@field source integer the buffer that it was asked from
---@field answer profd.SourceDisassemblyResult
---@field params profd.SourceDisassemblyParams
---@field line_of_row integer[] by row, 1-based: its line in the buffer
---@field row_of_line table<integer, integer> by line: its row, 1-based
---@field source_files table<integer, boolean> which of `answer.files` the source is, 0-based

---@type profd.Annotated?
local shown

--- Which files of the answer a buffer is: as the daemon found them, whatever links lead there.
---@param answer profd.SourceDisassemblyResult
---@param bufnr integer
---@return table<integer, boolean> by index, 0-based
local function files_of(answer, bufnr)
  local function real(path)
    return vim.uv.fs_realpath(path) or vim.fs.normalize(path)
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
local function source_line(at, row)
  local rows = at.answer.rows
  return at.source_files[rows.file[row]] and rows.line[row] > 0 and rows.line[row] or nil
end

---@param at profd.Annotated
---@param row integer
---@return string
local function source_text(at, row)
  local number = source_line(at, row)
  local line = number and vim.api.nvim_buf_get_lines(at.source, number - 1, number, false)[1]
  return line and '  ' .. vim.trim(line) or ''
end

---@param answer profd.SourceDisassemblyResult
---@return string[]
local function head_of(answer)
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
  if #answer.pieces > 1 then
    lines[#lines + 1] = ('piece %d of %d; <Tab> shows the next'):format(answer.piece + 1, #answer.pieces)
  end
  for _, note in ipairs({ answer.skid or false, answer.note or false }) do
    lines[#lines + 1] = note or nil
  end
  for _, rest in ipairs(answer.rest or {}) do
    lines[#lines + 1] = ('%s: %s'):format(rest.amount.text, rest.text)
  end
  return lines
end

--- Lines of the buffer; `at` learns where rows are.
---@param at profd.Annotated
---@return string[]
local function lines_of(at)
  local answer = at.answer
  local rows = answer.rows
  local lines = vim.tbl_map(log.one_line, head_of(answer))
  lines[#lines + 1] = ''
  local headings = {}
  for i, first in ipairs(answer.headings.first) do
    headings[math.max(first, answer.offset) - answer.offset + 1] = answer.headings.text[i]
  end
  for row = 1, #rows.text do
    if headings[row] then
      lines[#lines + 1] = (' '):rep(26) .. log.one_line(headings[row] .. source_text(at, row))
    end
    local target = rows.targetName[row]
    local text = rows.text[row] .. (target ~= '' and '  ' .. target or '')
    lines[#lines + 1] = ('%8s %8s  %-6s %s'):format(
      rows.selfShare[row],
      rows.totalShare[row],
      '+' .. rows.offset[row],
      log.one_line(text)
    )
    at.line_of_row[row] = #lines
    at.row_of_line[#lines] = row
  end
  return lines
end

---@param at profd.Annotated
local function paint(at)
  vim.api.nvim_buf_clear_namespace(at.bufnr, namespace, 0, -1)
  for row, line in ipairs(at.line_of_row) do
    local hot = at.answer.rows.heat[row]
    local group = hot > 0 and 'ProfdHeat' .. heat.level(hot) or 'ProfdQuiet'
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

--- Marks a line beside, and brings it into view where its window is not the current one.
---@param bufnr integer
---@param lines integer[] 1-based
local function mark(bufnr, lines)
  vim.api.nvim_buf_clear_namespace(bufnr, other_side, 0, -1)
  for _, line in ipairs(lines) do
    if line <= vim.api.nvim_buf_line_count(bufnr) then
      vim.api.nvim_buf_set_extmark(bufnr, other_side, line - 1, 0, { line_hl_group = 'CursorLine' })
    end
  end
  local window = vim.fn.bufwinid(bufnr)
  local first = lines[1]
  if window ~= -1 and window ~= vim.api.nvim_get_current_win() and first then
    vim.api.nvim_win_set_cursor(window, { math.min(first, vim.api.nvim_buf_line_count(bufnr)), 0 })
  end
end

--- The row that the cursor is on, or that the source line above it begins with.
---@return integer? row 1-based
local function row_here()
  local line = vim.api.nvim_win_get_cursor(0)[1]
  return shown and (shown.row_of_line[line] or shown.row_of_line[line + 1])
end

local function follow_source()
  if not shown or vim.fn.bufwinid(shown.bufnr) == -1 then
    return
  end
  local line, found = vim.api.nvim_win_get_cursor(0)[1], {}
  for row = 1, #shown.answer.rows.text do
    if source_line(shown, row) == line then
      found[#found + 1] = shown.line_of_row[row]
    end
  end
  mark(shown.bufnr, found)
end

local function follow_code()
  local row = row_here()
  if row and vim.api.nvim_buf_is_valid(shown.source) then
    mark(shown.source, { source_line(shown, row) })
  end
end

--- <CR>: to the source line of the row.
local function to_source()
  local row = row_here()
  local window = shown and vim.fn.bufwinid(shown.source) or -1
  local number = row and source_line(shown, row)
  if not number or window == -1 then
    return log.info('the source of this row is not the file beside it')
  end
  vim.api.nvim_set_current_win(window)
  local last = vim.api.nvim_buf_line_count(shown.source)
  vim.api.nvim_win_set_cursor(window, { math.min(number, last), 0 })
end

--- gd: to the row that a jump leads to.
local function to_target()
  local row = row_here()
  local target = row and shown.answer.rows.target[row] or -1
  if target < 0 or not shown.line_of_row[target + 1] then
    return log.info('this row leads to no row of the piece')
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { shown.line_of_row[target + 1], 0 })
end

local ask

--- <Tab>: the next piece of code of the function.
local function next_piece()
  local n = #shown.answer.pieces
  if n < 2 then
    return log.info('the function is one piece of code')
  end
  ask(vim.tbl_extend('force', shown.params, { piece = (shown.answer.piece + 1) % n }), shown.source)
end

---@param bufnr integer
local function map_keys(bufnr)
  for key, map in pairs({
    ['<CR>'] = { to_source, 'go to the source line' },
    ['gd'] = { to_target, 'go where the jump leads' },
    ['<Tab>'] = { next_piece, 'the next piece of code' },
  }) do
    vim.keymap.set('n', key, map[1], { buffer = bufnr, desc = map[2] })
  end
end

---@param bufnr integer
local function forget(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, other_side, 0, -1)
  end
end

---@param answer profd.SourceDisassemblyResult
---@param params profd.SourceDisassemblyParams
---@param source integer
local function show(answer, params, source)
  local group = vim.api.nvim_create_augroup('profd.annotate', {})
  if shown then
    forget(shown.source)
  end
  ---@type profd.Annotated
  local at = {
    bufnr = -1,
    source = source,
    answer = answer,
    params = params,
    line_of_row = {},
    row_of_line = {},
    source_files = files_of(answer, source),
  }
  local lines = lines_of(at)
  shown = nil
  at.bufnr = scratch.show(NAME, lines, { filetype = 'profd-annotate' })
  shown = at
  paint(at)
  map_keys(at.bufnr)
  vim.api.nvim_create_autocmd('CursorMoved', { group = group, buffer = at.bufnr, callback = follow_code })
  vim.api.nvim_create_autocmd('CursorMoved', { group = group, buffer = source, callback = follow_source })
  vim.api.nvim_create_autocmd({ 'BufWinLeave', 'BufWipeout' }, {
    group = group,
    buffer = at.bufnr,
    callback = function()
      forget(source)
    end,
  })
  local hottest, most = 1, -1
  for row, cost in ipairs(answer.rows.self) do
    if cost > most then
      hottest, most = row, cost
    end
  end
  vim.api.nvim_win_set_cursor(0, { at.line_of_row[hottest] or 1, 0 })
  follow_code()
end

---@param params profd.SourceDisassemblyParams
---@param source integer
ask = function(params, source)
  client.request(protocol.methods.source_disassembly, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    elseif result.problem or #result.pieces == 0 then
      return log.warn(result.problem or 'no code of it is known')
    end
    show(result, params, source)
  end, source)
end

--- `:Profd annotate [FUNCTION]`
---@param name? string a function, or MODULE+0xADDRESS; without it what the cursor is in
function M.show(name)
  local window = vim.api.nvim_get_current_win()
  local source = vim.api.nvim_win_get_buf(window)
  session.with_profile(function()
    ---@type profd.SourceDisassemblyParams
    local params = { profile = session.profile, spec = 'flat by function' }
    if name and name:find('%+0x%x+$') then
      params.code = name
    elseif name then
      params['function'] = name
    elseif client.attach(source) then
      local position = vim.lsp.util.make_position_params(window, client.get().offset_encoding)
      params.textDocument, params.position = position.textDocument, position.position
    else
      return log.warn('no file stands here; name a function, for example :Profd annotate main.work')
    end
    ask(params, source)
  end)
end

return M
