--- Where a project begins, and that its project file is followed.
local M = {}

---@type table<string, boolean> project files that a connection was made for
local seen = {}

--- The buffer holds a file of the user's.
---@param bufnr integer
---@return boolean
function M.is_source(bufnr)
  return vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].buftype == ''
    and vim.api.nvim_buf_get_name(bufnr) ~= ''
    and not vim.api.nvim_buf_get_name(bufnr):match('^%a[%w+.-]+://')
end

--- The file the user works on, also from within a help, a quickfix or a health window.
---@return integer?
function M.current_source()
  local candidates = { vim.api.nvim_get_current_buf(), vim.fn.bufnr('#') }
  for _, window in ipairs(vim.fn.getwininfo()) do
    candidates[#candidates + 1] = window.bufnr
  end
  for _, bufnr in ipairs(candidates) do
    if bufnr > 0 and vim.api.nvim_buf_is_valid(bufnr) and M.is_source(bufnr) then
      return bufnr
    end
  end
end

---@param bufnr integer
---@return string
local function folder_of(bufnr)
  return vim.fs.dirname(vim.fs.normalize(vim.api.nvim_buf_get_name(bufnr)))
end

--- The nearest folder with a .profd.toml, else with a .git, else the working folder.
---@return string
function M.root()
  local bufnr = M.current_source()
  local from = bufnr and folder_of(bufnr) or vim.fn.getcwd()
  for _, marker in ipairs({ '.profd.toml', '.git' }) do
    local found = vim.fs.find(marker, { path = from, upward = true })[1]
    if found then
      return vim.fs.dirname(found)
    end
  end
  return vim.fn.getcwd()
end

--- Where there is a project file, the daemon reads it, opens what it lists, and follows it from then on.
---@param bufnr integer
function M.autostart(bufnr)
  if not require('profd.config').current.autostart or not M.is_source(bufnr) then
    return
  end
  local found = vim.fs.find('.profd.toml', { path = folder_of(bufnr), upward = true })[1]
  if not found or seen[found] then
    return
  end
  seen[found] = true
  require('profd.commands').load_all()
  require('profd.session').start()
end

return M
