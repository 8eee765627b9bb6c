--- The source and the instructions beside it: what the cursor is on in the one is marked in the other.
local M = {}

local page = require('profd.annotate_page')

local namespace = vim.api.nvim_create_namespace('profd.annotate.other')

--- Marks lines of the other side, and brings the first into view where its window is not the current one.
---@param bufnr integer
---@param lines integer[] 1-based
---@param stays? boolean its window is left where it is
function M.mark(bufnr, lines, stays)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for _, line in ipairs(lines) do
    if line <= vim.api.nvim_buf_line_count(bufnr) then
      vim.api.nvim_buf_set_extmark(bufnr, namespace, line - 1, 0, { line_hl_group = 'CursorLine' })
    end
  end
  local window = stays and -1 or vim.fn.bufwinid(bufnr)
  local first = lines[1]
  if window ~= -1 and window ~= vim.api.nvim_get_current_win() and first then
    vim.api.nvim_win_set_cursor(window, { math.min(first, vim.api.nvim_buf_line_count(bufnr)), 0 })
  end
end

--- Takes the marks off a buffer.
---@param bufnr integer
function M.clear(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
end

--- The row that the cursor is on, or that the source line above it begins with.
---@param at profd.Annotated
---@return integer? row 1-based
function M.row_here(at)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  return at.row_of_line[line] or at.row_of_line[line + 1]
end

--- The cursor is in the source: marks the rows of its line.
---@param at profd.Annotated
---@param stays? boolean
function M.from_source(at, stays)
  if vim.fn.bufwinid(at.bufnr) == -1 then
    return
  end
  local line, found = vim.api.nvim_win_get_cursor(0)[1], {}
  for row = 1, #at.answer.rows.text do
    if page.source_line(at, row) == line then
      found[#found + 1] = at.line_of_row[row]
    end
  end
  M.mark(at.bufnr, found, stays)
end

--- The cursor is in the instructions: marks the source line of its row.
---@param at profd.Annotated
---@param stays? boolean
function M.from_code(at, stays)
  local row = M.row_here(at)
  if row then
    M.mark(at.source, { page.source_line(at, row) }, stays)
  end
end

return M
