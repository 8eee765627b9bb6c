--- `:Profd aggregate`: several profiles of one program as one, with how their values lie.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local profiles = require('profd.profiles')
local protocol = require('profd.protocol')
local session = require('profd.session')

--- The files that a word means: one that is there as it is, else those that a pattern finds.
---@param word string
---@return string[]
local function files_of(word)
  if vim.uv.fs_stat(word) then
    return { word }
  end
  local found = vim.fn.glob(word, false, true)
  return #found > 0 and found or { word }
end

--- `:Profd aggregate PROFILE PROFILE…`
---@param words string[] files, patterns of files, names or handles of open profiles
function M.show(words)
  profiles.list(function(entries)
    local parts = {}
    for _, word in ipairs(words) do
      for _, name in ipairs(files_of(word)) do
        parts[#parts + 1] = require('profd.diff').part_of(name, entries)
      end
    end
    if #parts < 2 then
      return log.error(':Profd aggregate takes several profiles, for example :Profd aggregate run-*.pprof')
    end
    client.request(protocol.methods.profile_aggregate, { of = parts }, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      session.adopt(result)
      log.info(result.summary.name)
      require('profd.tree').show()
    end)
  end)
end

return M
