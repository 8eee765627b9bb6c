--- Files outside the workspace: a profile names them, nobody else does, so the user is asked before one is opened.
local M = {}

local log = require('profd.log')

---@type table<string, boolean> roots that may be opened, as long as this Neovim runs
local allowed = {}

--- What is allowed with a file: the project that it is in, else its folder.
---@param path string
---@return string
function M.root_of(path)
  return vim.fs.root and vim.fs.root(path, { '.git', '.hg', '.svn' }) or vim.fs.dirname(path)
end

---@param path string
---@return boolean
function M.is_allowed(path)
  return allowed[M.root_of(path)] or false
end

--- Asks once for all files below the same root. `done` is called when they may be opened.
---@param path string
---@param done fun()
function M.ask(path, done)
  local root = M.root_of(path)
  if allowed[root] then
    return done()
  end
  local yes = 'open files below ' .. log.one_line(vim.fn.fnamemodify(root, ':~'))
  vim.ui.select({ yes, 'no' }, {
    prompt = ('%s is outside the workspace; only the profile says that it is meant:'):format(
      log.one_line(vim.fn.fnamemodify(path, ':~'))
    ),
    kind = 'profd.outside',
  }, function(choice)
    if choice == yes then
      allowed[root] = true
      done()
    end
  end)
end

return M
