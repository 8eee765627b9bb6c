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

--- For a status line: the profile, its metric and the window of time that is kept, or ''.
---@return string
function M.status()
  local session = require('profd.session')
  if not session.profile then
    return ''
  end
  local window = session.window and ' · ' .. session.window.clause or ''
  return (session.metric and session.name .. ' · ' .. session.metric or session.name) .. window
end

return M
