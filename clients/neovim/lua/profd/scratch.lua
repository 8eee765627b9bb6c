--- A read-only buffer below the code. `q` closes it.
local M = {}

---@class profd.ScratchOpts
---@field filetype? string

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
    vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, desc = 'close' })
  end
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = opts and opts.filetype or 'profd'
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd('botright ' .. math.min(#lines, math.floor(vim.o.lines * 0.6)) .. 'split')
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.wo[window][0].number = false
    vim.wo[window][0].relativenumber = false
    vim.wo[window][0].signcolumn = 'no'
    vim.wo[window][0].wrap = false
    vim.wo[window][0].list = false
    vim.wo[window][0].spell = false
  end
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  return bufnr
end

return M
