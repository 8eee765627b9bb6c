--- A read-only buffer below the code. `q` closes it.
local M = {}

--- Views that are opened from each other take turns in one window; a timeline stays beside what it is a filter of.
local TURNS = {}
for _, name in ipairs({ 'flame', 'tree', 'summary', 'sets', 'report', 'correlate', 'analysis' }) do
  TURNS['profd-' .. name] = true
end

local LEAST_LINES = 5
local MOST_OF_SCREEN = 0.6

--- Closes the current window and goes to the one that was left for it, which Neovim itself does not.
function M.close()
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  vim.cmd.close()
  if before ~= 0 and vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
end

--- q: back to the view that this one took the window of, else closes it.
local function leave()
  local before = vim.w.profd_before
  vim.w.profd_before = nil
  if before and before ~= vim.api.nvim_get_current_buf() and vim.api.nvim_buf_is_valid(before) then
    vim.api.nvim_win_set_buf(0, before)
  else
    M.close()
  end
end

--- As many lines as a buffer of ours takes of the screen.
---@return integer
function M.most_lines()
  return math.max(LEAST_LINES, math.floor(vim.o.lines * MOST_OF_SCREEN))
end

--- Gives the current window the height that its lines take, within reason; one that was taken over from another view does not
--- become lower.
---@param lines integer
function M.set_height(lines)
  local height = math.min(lines, M.most_lines())
  if not vim.w.profd_before or height > vim.api.nvim_win_get_height(0) then
    vim.api.nvim_win_set_height(0, height)
  end
end

---@class profd.ScratchOpts
---@field filetype? string

--- Whether it is on the screen: what is not is asked for again when it is opened.
---@param bufnr integer
---@return boolean
function M.is_shown(bufnr)
  return vim.api.nvim_buf_is_valid(bufnr) and vim.fn.bufwinid(bufnr) ~= -1
end

---@param bufnr integer
---@param lines string[]
function M.rewrite(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
end

---@param bufnr integer
---@param namespace integer what was marked in it before goes
---@param marks profd.Mark[]
function M.mark(bufnr, namespace, marks)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for _, mark in ipairs(marks) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, mark.line, mark.from, { end_col = mark.to, hl_group = mark.group })
  end
end

---@param name string
---@param lines string[]
---@param opts? profd.ScratchOpts
---@return integer bufnr
function M.show(name, lines, opts)
  local bufnr = vim.fn.bufnr('^' .. name .. '$')
  if bufnr == -1 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, name)
    vim.bo[bufnr].bufhidden = 'hide'
    vim.bo[bufnr].swapfile = false
    vim.keymap.set('n', 'q', leave, { buffer = bufnr, nowait = true, desc = 'close' })
  end
  M.rewrite(bufnr, lines)
  vim.bo[bufnr].filetype = opts and opts.filetype or 'profd'
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    if TURNS[vim.bo.filetype] and TURNS[vim.bo[bufnr].filetype] then
      vim.w.profd_before = vim.api.nvim_get_current_buf()
      M.set_height(#lines)
    else
      vim.cmd('botright ' .. math.min(#lines, M.most_lines()) .. 'split')
    end
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.wo[window][0].number = false
    vim.wo[window][0].relativenumber = false
    vim.wo[window][0].signcolumn = 'no'
    vim.wo[window][0].wrap = false
    vim.wo[window][0].list = false
    vim.wo[window][0].spell = false
    vim.opt_local.fillchars:append({ eob = ' ' })
  end
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  return bufnr
end

return M
