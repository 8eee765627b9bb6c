--- Everything known of a line, in a window beside it.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@param line string
---@return string[]
local function cells(line)
  local result = {}
  local inner = line:gsub('^%s*|', ''):gsub('|%s*$', '')
  local cell, escaped = {}, false
  for char in inner:gmatch('.') do
    if char == '|' and not escaped then
      result[#result + 1] = vim.trim(table.concat(cell))
      cell = {}
    else
      cell[#cell + 1] = char
    end
    escaped = char == '\\' and not escaped
  end
  result[#result + 1] = vim.trim(table.concat(cell))
  return result
end

--- What a terminal shows of Markdown text once its escapes are concealed.
---@param text string
---@return integer
local function shown_width(text)
  return vim.api.nvim_strwidth((text:gsub('\\(%p)', '%1')))
end

---@param rows string[][]
---@return string[]
local function align_rows(rows)
  local widths, right = {}, {}
  for r, row in ipairs(rows) do
    for c, cell in ipairs(row) do
      if r == 2 then
        right[c] = cell:sub(-1) == ':' and cell:sub(1, 1) ~= ':'
      else
        widths[c] = math.max(widths[c] or 3, shown_width(cell))
      end
    end
  end
  local lines = {}
  for r, row in ipairs(rows) do
    local parts = {}
    for c, width in ipairs(widths) do
      local cell = row[c] or ''
      if r == 2 then
        parts[c] = right[c] and ('-'):rep(width - 1) .. ':' or ('-'):rep(width)
      else
        local space = (' '):rep(width - shown_width(cell))
        parts[c] = right[c] and space .. cell or cell .. space
      end
    end
    lines[r] = '| ' .. table.concat(parts, ' | ') .. ' |'
  end
  return lines
end

--- Pads the cells of Markdown tables, which a terminal shows as they are.
---@param lines string[]
---@return string[]
function M.align_tables(lines)
  local result, rows = {}, {}
  local function flush()
    vim.list_extend(result, align_rows(rows))
    rows = {}
  end
  for _, line in ipairs(lines) do
    if line:match('^%s*|') then
      rows[#rows + 1] = cells(line)
    else
      flush()
      result[#result + 1] = line
    end
  end
  flush()
  return result
end

--- Follows the link under the cursor, or the first one of its line.
local function follow()
  local line = vim.api.nvim_get_current_line()
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  local target, at = nil, 1
  while true do
    local first, last, uri = line:find('%]%((file://[^%s)]*)%)', at)
    if not first then
      break
    end
    target = target or uri
    if column <= last then
      target = uri
      break
    end
    at = last + 1
  end
  if not target then
    return
  end
  local uri, lnum = target:match('^(.-)#L(%d+)$')
  vim.api.nvim_win_close(0, true)
  vim.cmd("normal! m'")
  vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(uri or target)))
  vim.api.nvim_win_set_cursor(0, { math.min(tonumber(lnum) or 1, vim.api.nvim_buf_line_count(0)), 0 })
  vim.cmd('normal! zv^')
end

---@param hover profd.Hover
---@return integer bufnr, integer winnr
function M.open_window(hover)
  local lines = M.align_tables(vim.split(hover.contents.value, '\n', { trimempty = true }))
  local markdown = hover.contents.kind == protocol.MarkupKind.markdown
  local ok = markdown and pcall(vim.treesitter.language.add, 'markdown')
  local bufnr, winnr = vim.lsp.util.open_floating_preview(lines, ok and 'markdown' or 'text', {
    focus_id = 'profd.hover',
    border = vim.fn.has('nvim-0.11') == 1 and vim.o.winborder ~= '' and vim.o.winborder or 'rounded',
    wrap = false,
    max_width = math.floor(vim.o.columns * 0.9),
  })
  vim.keymap.set('n', '<CR>', follow, { buffer = bufnr, desc = 'go to the function' })
  return bufnr, winnr
end

--- `:Profd hover`
function M.show()
  local window = vim.api.nvim_get_current_win()
  local bufnr = vim.api.nvim_win_get_buf(window)
  if vim.w[window]['profd.hover'] then
    return -- in the hover itself
  end
  session.with_profile(function()
    if not client.attach(bufnr) then
      return log.warn('no file stands here; open a source file first')
    end
    local here = vim.api.nvim_get_current_win() == window and vim.api.nvim_win_get_buf(window) == bufnr
    if not here then
      return
    end
    local encoding = client.get().offset_encoding
    local params = vim.lsp.util.make_position_params(window, encoding)
    client.request(protocol.methods.hover, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      if vim.api.nvim_get_current_buf() ~= bufnr then
        return
      end
      if not result then
        return log.info('nothing was measured on this line')
      end
      M.open_window(result)
    end, bufnr)
  end)
end

--- Other servers that answer hovers in a buffer.
---@param bufnr integer
---@return boolean
local function others_hover(bufnr)
  for _, other in ipairs(vim.lsp.get_clients({ bufnr = bufnr, method = 'textDocument/hover' })) do
    if other.name ~= 'profd' then
      return true
    end
  end
  return false
end

-- K before 0.11 shows one answer, the last one. A language server's goes before the costs, which :Profd hover shows.
client.handle(protocol.methods.hover, function(_, result, ctx)
  if vim.api.nvim_get_current_buf() ~= ctx.bufnr or others_hover(ctx.bufnr) then
    return
  end
  if result and result.contents then
    M.open_window(result)
  else
    vim.notify('No information available')
  end
end)

return M
