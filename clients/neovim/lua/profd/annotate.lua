--- `:Profd annotate`: a function as instructions, beside its source. The cursors go with one another.
local M = {}

local beside = require('profd.annotate_beside')
local client = require('profd.client')
local keys_of = require('profd.keys')
local log = require('profd.log')
local page = require('profd.annotate_page')
local protocol = require('profd.protocol')
local scratch = require('profd.scratch')
local session = require('profd.session')

local NAME = 'profd://annotate'
local asked_places = vim.api.nvim_create_namespace('profd.annotate.place')
local CONTENT_MODIFIED = protocol.ErrorCodes.contentModified

---@type profd.Annotated?
local shown

--- <CR>: to the source line of the row.
local function to_source()
  local row = beside.row_here(shown)
  local window = shown and vim.fn.bufwinid(shown.source) or -1
  local number = row and page.source_line(shown, row)
  if not number or window == -1 then
    return log.info('the source of this row is not the file beside it')
  end
  vim.api.nvim_set_current_win(window)
  local last = vim.api.nvim_buf_line_count(shown.source)
  vim.api.nvim_win_set_cursor(window, { math.min(number, last), 0 })
end

--- gd: to the row that a jump leads to.
local function to_target()
  local row = beside.row_here(shown)
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

---@type profd.Key[]
local keys = {
  { '<CR>', to_source, 'to the source line of the row' },
  { 'gd', to_target, 'where the jump leads' },
  { '<Tab>', next_piece, 'the next piece of code of the function' },
}

---@param bufnr integer
---@param place? integer the mark that is needed still
local function forget(bufnr, place)
  if vim.api.nvim_buf_is_valid(bufnr) then
    beside.clear(bufnr)
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
  at.source_files = page.files_of(answer, at.source)
  local lines = page.lines_of(at)
  scratch.rewrite(at.bufnr, lines)
  page.paint(at)
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
    beside.from_code(at, true)
  elseif current == at.source then
    beside.from_source(at, true)
  else
    beside.mark(at.bufnr, {}, true)
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
    source_files = page.files_of(answer, source),
  }
  local lines = page.lines_of(at)
  shown = nil
  at.bufnr = scratch.show(NAME, lines, { filetype = 'profd-annotate' })
  shown = at
  page.paint(at)
  keys_of.map(at.bufnr, 'Instructions', keys)
  for buffer, follow in pairs({ [at.bufnr] = beside.from_code, [source] = beside.from_source }) do
    vim.api.nvim_create_autocmd('CursorMoved', {
      group = group,
      buffer = buffer,
      callback = function()
        follow(at)
      end,
    })
  end
  vim.api.nvim_create_autocmd({ 'BufWinLeave', 'BufWipeout' }, {
    group = group,
    buffer = at.bufnr,
    callback = function()
      beside.mark(source, {}, true)
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
  beside.from_code(at)
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
