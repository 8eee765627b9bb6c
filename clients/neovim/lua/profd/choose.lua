--- Which profile and which metric are shown: by name, or from a list.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local profiles = require('profd.profiles')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@param name string a handle, or a name, which the server resolves
local function choose_profile(name)
  client.request(protocol.methods.execute_command, { command = 'profd.select', arguments = { name } }, function(_, err)
    if err then
      return log.error(session.sentence(err))
    end
    require('profd.hints').set_enabled(true)
    session.sync()
  end)
end

--- Asks for one of the profiles of this editor; those of others (windows, pages, scripts) are behind a row of theirs.
---@param entries profd.ProfileListEntry[]
---@param labels string[]
local function pick_profile(entries, labels)
  local mine, others = {}, {}
  for i, entry in ipairs(entries) do
    table.insert(entry.mine and mine or others, i)
  end
  ---@param items (integer|'others')[]
  ---@param prompt string
  local function ask(items, prompt)
    vim.ui.select(items, {
      prompt = prompt,
      kind = 'profd.profile',
      format_item = function(i)
        if i == 'others' then
          return ('  Of other windows: %d …'):format(#others)
        end
        local entry = entries[i]
        local mark = entry.profile == session.profile and '● ' or '  '
        local total = entry.total and ('  %s %s'):format(entry.total.text, log.one_line(entry.metric or '')) or ''
        return mark .. labels[i] .. total
      end,
    }, function(i)
      if i == 'others' then
        ask(others, 'Profile of another window:')
      elseif i then
        choose_profile(entries[i].profile)
      end
    end)
  end
  if #mine == 0 then
    return ask(others, 'Profile of another window:')
  end
  if #others > 0 then
    table.insert(mine, 'others')
  end
  ask(mine, 'Profile:')
end

---@param name? string
function M.profile(name)
  profiles.list(function(entries)
    local labels = profiles.labels(entries)
    if name then
      for i, label in ipairs(labels) do
        if label == name then
          return choose_profile(entries[i].profile)
        end
      end
      return choose_profile(name)
    end
    if #entries == 0 then
      return log.warn('no profile is open; :Profd open FILE opens one')
    end
    pick_profile(entries, labels)
  end)
end

---@param metrics profd.MetricInfo[]
---@param name string
local function choose_metric(metrics, name)
  local names = {}
  for _, metric in ipairs(metrics) do
    names[#names + 1] = metric.name
  end
  if not vim.list_contains(names, name) then
    return log.error(('%s has no metric %s; it has %s'):format(session.name, name, table.concat(names, ', ')))
  end
  local params = { command = 'profd.metric', arguments = { name, session.profile } }
  client.request(protocol.methods.execute_command, params, function(_, err)
    if err then
      return log.error(session.sentence(err))
    end
    session.saw_metric(name)
    require('profd.hints').set_enabled(true)
  end)
end

---@param name? string
function M.metric(name)
  profiles.metrics(function(metrics)
    if name then
      return choose_metric(metrics, name)
    end
    vim.ui.select(metrics, {
      prompt = 'Metric:',
      kind = 'profd.metric',
      format_item = function(metric)
        local mark = metric.default and '● ' or '  '
        return ('%s%s  %s'):format(mark, metric.title or metric.name, metric.text)
      end,
    }, function(choice)
      if choice then
        choose_metric(metrics, choice.name)
      end
    end)
  end)
end

return M
