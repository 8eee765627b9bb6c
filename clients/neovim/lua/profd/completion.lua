--- What the command line completes: it answers at once, with what is known by then.
local M = {}

---@type string[] metrics of the profile, as far as they are known, for completion
local known_metrics = {}
---@type string[] the open profiles, likewise
local known_profiles = {}

---@param lead string
---@param words string[]
---@return string[]
function M.starting_with(lead, words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

--- Completion must answer at once: it asks, and gives what the last answer said.
---@param start fun(done: fun())
local function wait_for_completion(start)
  local done = false
  start(function()
    done = true
  end)
  vim.wait(200, function()
    return done
  end, 5)
end

--- The metrics of the profile that is shown.
---@return string[]
function M.metrics()
  local client, session = require('profd.client'), require('profd.session')
  if session.profile and client.get() then
    wait_for_completion(function(done)
      client.request('metric/list', { profile = session.profile }, function(result)
        known_metrics = vim.tbl_map(function(metric)
          return metric.name
        end, result and result.metrics or {})
        done()
      end)
    end)
  end
  return known_metrics
end

--- The open profiles.
---@return string[]
function M.profiles()
  if require('profd.client').get() then
    wait_for_completion(function(done)
      local profiles = require('profd.profiles')
      profiles.list(function(entries)
        known_profiles = profiles.labels(entries)
        done()
      end)
    end)
  end
  return known_profiles
end

--- As a word of the command line, and back.
---@param word string
---@return string
local function escaped(word)
  return (word:gsub('[\\ ]', '\\%0'))
end

---@param word string
---@return string
local function unescaped(word)
  return (word:gsub('\\(.)', '%1'))
end

--- Open profiles and files, as words of the command line.
---@param lead string
---@return string[]
function M.profiles_and_files(lead)
  local word = unescaped(lead)
  local found = M.starting_with(word, M.profiles())
  return vim.tbl_map(escaped, vim.list_extend(found, vim.fn.getcompletion(word, 'file')))
end

return M
