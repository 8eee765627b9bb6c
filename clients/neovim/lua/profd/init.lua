--- What lines cost, beside the lines. :help profd
local M = {}

--- Optional: the defaults work without it.
---@param opts? profd.Opts
function M.setup(opts)
  local config = require('profd.config')
  local problem = config.set(opts)
  if problem then
    require('profd.log').error('setup: ' .. problem .. '; the default is used (:help profd-config)')
  end
  config.map_keys()
  require('profd.commands').load_all()
  require('profd.heat').apply()
  require('profd.hints').refresh_all()
end

--- For a status line: what is recorded, else the profile, its metric and the filters that were set here; '' when none is shown.
---@param opts? profd.StatusOpts
---@return string
function M.status(opts)
  return require('profd.status').text(opts)
end

--- The profile that is shown, or nil.
---@return {profile: string, name: string, uri: string, metric?: string, revision: integer}?
function M.profile()
  local session = require('profd.session')
  if session.profile then
    return {
      profile = session.profile,
      name = session.name,
      uri = session.uri,
      metric = session.metric,
      revision = session.revision,
    }
  end
end

--- The lines of a buffer that have a hint, from top to bottom.
---@param bufnr? integer the current one by default
---@return profd.HotLine[]
function M.hints(bufnr)
  return require('profd.hints').lines(bufnr or 0)
end

--- Opens a profile and shows its costs, as `:Profd open`.
---@param path string a file, or a URI
function M.open(path)
  require('profd.commands').load_all()
  require('profd.session').open(path)
end

--- Hints on or off: in a buffer, or in all that were not told themselves.
---@param value boolean
---@param bufnr? integer
function M.enable(value, bufnr)
  require('profd.hints').set_enabled(value, bufnr)
end

---@param bufnr? integer
---@return boolean
function M.is_enabled(bufnr)
  return require('profd.hints').is_enabled(bufnr)
end

--- To the next hot line of the current buffer, -1: to the one before.
---@param direction 1|-1
---@param count? integer
function M.hot_line(direction, count)
  require('profd.jump').hot_line(direction, count)
end

--- Records a command under a profiler and shows what came of it, as `:Profd record`.
---@param command string for the shell
function M.record(command)
  require('profd.commands').load_all()
  require('profd.record').run(command)
end

return M
