--- What others hear of: `User ProfdChanged`, for status lines and other plugins.
local M = {}

---@class profd.ChangedEvent what `data` of the event is
---@field what 'profile'|'metric'|'filters'|'hints'|'recording' what is another now
---@field profile? string handle of the profile that is shown; absent: none
---@field name string
---@field uri? string
---@field metric? string
---@field revision integer counts how often its file was read again

--- Later, so that what fails in a listener does not end what happens here.
---@param what 'profile'|'metric'|'filters'|'hints'|'recording'
function M.changed(what)
  vim.schedule(function()
    local session = require('profd.session')
    ---@type profd.ChangedEvent
    local data = {
      what = what,
      profile = session.profile,
      name = session.name,
      uri = session.uri,
      metric = session.metric,
      revision = session.revision,
    }
    vim.api.nvim_exec_autocmds('User', { pattern = 'ProfdChanged', data = data, modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end)
end

return M
