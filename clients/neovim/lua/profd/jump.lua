--- Going to places: the file of a row, the next hot line.
local M = {}

local log = require('profd.log')

--- Goes to a line in the window that is current, with the way back in the jump list.
---@param path string
---@param line? integer 1-based
function M.to(path, line)
  vim.cmd("normal! m'")
  vim.cmd.edit(vim.fn.fnameescape(path))
  vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(line or 1, vim.api.nvim_buf_line_count(0))), 0 })
  vim.cmd('normal! zv^')
end

---@param window integer
---@return boolean
local function shows_file(window)
  return vim.api.nvim_win_get_config(window).relative == ''
    and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == ''
    and not vim.wo[window].winfixbuf
end

--- Goes to a line beside a buffer of ours: in the window before it, else in one that shows a file, else in a new one.
---@param path string
---@param line? integer 1-based
function M.beside(path, line)
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, window in ipairs(vim.list_extend({ before }, vim.api.nvim_tabpage_list_wins(0))) do
    if window ~= 0 and shows_file(window) then
      vim.api.nvim_set_current_win(window)
      return M.to(path, line)
    end
  end
  vim.cmd('topleft split')
  M.to(path, line)
end

---@return profd.HotLine[]? of the current buffer, nil after saying that there are none
local function hot_lines()
  local lines = require('profd.hints').lines(0)
  if #lines > 0 then
    return lines
  end
  log.info('no line of this file has a hint (:checkhealth profd says why)')
end

---@param line integer 1-based
local function go(line)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  vim.cmd('normal! zv^')
end

--- To the hot line after the cursor, or before it; around the end where 'wrapscan' is on, as searches do.
---@param direction 1|-1
---@param count? integer how many hot lines further
function M.hot_line(direction, count)
  local lines = hot_lines()
  if not lines then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(0)[1]
  local n = #lines
  -- How many are before the cursor, and whether it is on one.
  local before, on = 0, 0
  for _, hot in ipairs(lines) do
    before = before + (hot.line < cursor and 1 or 0)
    on = hot.line == cursor and 1 or on
  end
  local at = direction > 0 and before + on + (count or 1) or before + 1 - (count or 1)
  if at < 1 or at > n then
    if not vim.o.wrapscan then
      return log.info(direction > 0 and 'no hot line below' or 'no hot line above')
    end
    at = (at - 1) % n + 1
  end
  go(lines[at].line)
end

--- To the hottest line of the file; in a diff to the one that changed most.
function M.hottest_line()
  local lines = hot_lines()
  local hottest = lines and lines[1]
  for _, hot in ipairs(lines or {}) do
    if math.abs(hot.heat) > math.abs(hottest.heat) then
      hottest = hot
    end
  end
  if hottest then
    go(hottest.line)
  end
end

return M
