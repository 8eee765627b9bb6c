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
local asked_places = vim.api.nvim_create_namespace('profd.annotate.place')
local CONTENT_MODIFIED = protocol.ErrorCodes.contentModified

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
local function lines_of(at)
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
local function paint(at)
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

--- Marks lines of the other side, and brings the first into view where its window is not the current one.
---@param bufnr integer
---@param lines integer[] 1-based
---@param stays? boolean its window is left where it is
local function mark(bufnr, lines, stays)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, other_side, 0, -1)
  for _, line in ipairs(lines) do
    if line <= vim.api.nvim_buf_line_count(bufnr) then
      vim.api.nvim_buf_set_extmark(bufnr, other_side, line - 1, 0, { line_hl_group = 'CursorLine' })
    end
  end
  local window = stays and -1 or vim.fn.bufwinid(bufnr)
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

---@param stays? boolean
local function follow_source(stays)
  if not shown or vim.fn.bufwinid(shown.bufnr) == -1 then
    return
  end
  local line, found = vim.api.nvim_win_get_cursor(0)[1], {}
  for row = 1, #shown.answer.rows.text do
    if source_line(shown, row) == line then
      found[#found + 1] = shown.line_of_row[row]
    end
  end
  mark(shown.bufnr, found, stays)
end

---@param stays? boolean
local function follow_code(stays)
  local row = row_here()
  if row then
    mark(shown.source, { source_line(shown, row) }, stays)
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
  ask(vim.tbl_extend('force', shown.params, { piece = (shown.answer.piece + 1) % n }), shown.source, shown.place)
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
---@param place? integer the mark that is needed still
local function forget(bufnr, place)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, other_side, 0, -1)
    if shown and shown.place and shown.place ~= place then
      vim.api.nvim_buf_del_extmark(bufnr, asked_places, shown.place)
    end
  end
end

--- Writes the rows anew. Windows stay at the rows that they are at, as far as these are there still.
---@param at profd.Annotated
---@param answer profd.SourceDisassemblyResult
local function redraw(at, answer)
  local before, views = at.answer, {}
  for _, window in ipairs(vim.fn.win_findbuf(at.bufnr)) do
    local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
    views[window] = { view = view, row = at.row_of_line[view.lnum], from_top = view.lnum - view.topline }
  end
  at.answer = answer
  at.source_files = files_of(answer, at.source)
  local lines = lines_of(at)
  vim.bo[at.bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(at.bufnr, 0, -1, false, lines)
  vim.bo[at.bufnr].modifiable = false
  paint(at)
  local row_at = {}
  for row, offset in ipairs(answer.rows.offset) do
    row_at[offset] = row
  end
  for window, was in pairs(views) do
    local row = was.row and row_at[before.rows.offset[was.row]]
    was.view.lnum = row and at.line_of_row[row] or math.min(was.view.lnum, #lines)
    was.view.topline = math.max(1, was.view.lnum - was.from_top)
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview(was.view)
    end)
  end
  local current = vim.api.nvim_get_current_buf()
  if current == at.bufnr then
    follow_code(true)
  elseif current == at.source then
    follow_source(true)
  else
    mark(at.bufnr, {}, true)
  end
end

--- What is asked for when the rows are asked for anew: the position moved with the text.
---@param at profd.Annotated
---@return profd.SourceDisassemblyParams
local function params_now(at)
  local params = vim.tbl_extend('force', at.params, { profile = session.profile })
  local where = at.place
    and vim.api.nvim_buf_is_valid(at.source)
    and vim.api.nvim_buf_get_extmark_by_id(at.source, asked_places, at.place, {})
  if where and where[1] then
    params.position = { line = where[1], character = 0 }
  end
  return params
end

--- The piece of the answer that is the one that was shown; nothing: the function became other code.
---@param answer profd.SourceDisassemblyResult
---@param was profd.CodePiece
---@return integer? 0-based
local function same_piece(answer, was)
  for i, piece in ipairs(answer.pieces) do
    if piece.module == was.module and piece.start == was.start then
      return i - 1
    end
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  local at = shown
  if not at or not vim.api.nvim_buf_is_valid(at.bufnr) then
    return
  end
  if #vim.fn.win_findbuf(at.bufnr) == 0 then
    at.missed = true
    return
  end
  at.missed = nil
  at.asked = at.asked + 1
  local asked = at.asked
  ---@param why string
  local function keep(why)
    at.outdated = why
    redraw(at, at.answer)
  end
  if not session.profile then
    return keep('no profile is open')
  end
  ---@param params profd.SourceDisassemblyParams
  ---@param retries integer
  local function request(params, retries)
    client.request(protocol.methods.source_disassembly, params, function(result, err)
      if shown ~= at or at.asked ~= asked or not vim.api.nvim_buf_is_valid(at.bufnr) then
        return
      elseif err and err.code == CONTENT_MODIFIED and retries > 0 then
        return request(params, retries - 1)
      elseif err or result.problem or #result.pieces == 0 then
        return keep(err and session.sentence(err) or result.problem or 'no code of it is known')
      end
      -- The hottest piece may be another one now; what is looked at stays.
      local piece = same_piece(result, at.answer.pieces[at.answer.piece + 1])
      if piece and piece ~= result.piece and retries > 0 then
        return request(vim.tbl_extend('force', params, { piece = piece }), retries - 1)
      end
      at.outdated = nil
      redraw(at, result)
    end, at.source)
  end
  local params = params_now(at)
  params.piece = nil
  request(params, 2)
end

---@param answer profd.SourceDisassemblyResult
---@param params profd.SourceDisassemblyParams
---@param source integer
---@param place? integer
local function show(answer, params, source, place)
  local group = vim.api.nvim_create_augroup('profd.annotate', {})
  if shown then
    forget(shown.source, place)
  end
  ---@type profd.Annotated
  local at = {
    bufnr = -1,
    source = source,
    answer = answer,
    params = params,
    place = place,
    asked = 0,
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
  for buffer, follow in pairs({ [at.bufnr] = follow_code, [source] = follow_source }) do
    vim.api.nvim_create_autocmd('CursorMoved', {
      group = group,
      buffer = buffer,
      callback = function()
        follow()
      end,
    })
  end
  vim.api.nvim_create_autocmd({ 'BufWinLeave', 'BufWipeout' }, {
    group = group,
    buffer = at.bufnr,
    callback = function()
      mark(source, {}, true)
    end,
  })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = at.bufnr,
    callback = function()
      if at.missed then
        M.refresh()
      end
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
---@param place? integer
ask = function(params, source, place)
  client.request(protocol.methods.source_disassembly, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    elseif result.problem or #result.pieces == 0 then
      return log.warn(result.problem or 'no code of it is known')
    end
    show(result, params, source, place)
  end, source)
end

--- `:Profd annotate [FUNCTION]`
---@param name? string a function, or MODULE+0xADDRESS; without it what the cursor is in
function M.show(name)
  local window = vim.api.nvim_get_current_win()
  local source = vim.api.nvim_win_get_buf(window)
  session.with_profile(function()
    ---@type profd.SourceDisassemblyParams
    local params = { profile = session.profile, spec = 'flat by function', workspaceFilters = true }
    local place
    if name and name:find('%+0x%x+$') then
      params.code = name
    elseif name then
      params['function'] = name
    elseif client.attach(source) then
      local position = vim.lsp.util.make_position_params(window, client.get().offset_encoding)
      params.textDocument, params.position = position.textDocument, position.position
      place = vim.api.nvim_buf_set_extmark(source, asked_places, position.position.line, 0, {})
    else
      return log.warn('no file stands here; name a function, for example :Profd annotate main.work')
    end
    ask(params, source, place)
  end)
end

return M
