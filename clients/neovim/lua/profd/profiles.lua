--- The open profiles and the metrics of the one that is shown, as the daemon lists them, by names that differ.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

--- The open profiles by names that differ: where two are called the same, their paths follow.
---@param entries profd.ProfileListEntry[]
---@return string[]
function M.labels(entries)
  local count = {}
  for _, entry in ipairs(entries) do
    count[entry.name] = (count[entry.name] or 0) + 1
  end
  return vim.tbl_map(function(entry)
    local name = log.one_line(entry.name)
    if count[entry.name] == 1 then
      return name
    end
    local path = vim.startswith(entry.uri, 'file:') and vim.uri_to_fname(entry.uri) or entry.uri
    return ('%s (%s)'):format(name, vim.fn.fnamemodify(path, ':~:.'))
  end, entries)
end

---@param action fun(entries: profd.ProfileListEntry[])
function M.list(action)
  session.with_server(function()
    client.request(protocol.methods.profile_list, vim.empty_dict(), function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      action(vim.tbl_filter(function(entry)
        return entry.state ~= 'opening'
      end, result.profiles))
    end)
  end)
end

---@param action fun(metrics: profd.MetricInfo[])
function M.metrics(action)
  session.with_profile(function()
    client.request(protocol.methods.metric_list, { profile = session.profile }, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      action(result.metrics)
    end)
  end)
end

return M
