--- Filters of a profile, with undo: what hints, hovers and every buffer of it are of.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@class profd.FilterStack
---@field states string[][] the clauses after each change, the first none
---@field at integer which of them holds

---@type table<string, profd.FilterStack> by the URI of the profile
local stacks = {}

---@param uri string
---@return profd.FilterStack
local function stack_of(uri)
  stacks[uri] = stacks[uri] or { states = { {} }, at = 1 }
  return stacks[uri]
end

--- What filters begin with, by word, for completion.
M.WORDS = {
  { 'keep', 'drop', 'hide', 'collapse', 'thread', 'time', 'mine' },
  { 'function', 'module', 'file', 'package', 'kind', 'recursion', 'thread', 'label' },
}

--- A name as filters have it.
---@param name string
---@return string
function M.quote(name)
  local escaped = name:gsub('[\\"]', '\\%0'):gsub('%c', function(char)
    return ('\\x%02x'):format(char:byte())
  end)
  return '"' .. escaped .. '"'
end

--- The filters that hold for the profile that is shown, oldest first.
---@return string[]
function M.list()
  local stack = stacks[session.uri or '']
  return stack and stack.states[stack.at] or {}
end

--- All that filters hints and hovers: those of the project and of this editor, as clauses of a view.
---@param done fun(filters: string[])
function M.all(done)
  ---@type profd.HotspotsParams
  local params = { profile = session.profile, workspaceFilters = true, limit = 1 }
  client.request(protocol.methods.hotspots, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    done(result.filters or {})
  end)
end

---@param stack profd.FilterStack
local function apply(stack)
  local clauses = stack.states[stack.at]
  client.profile_filters[session.uri] = #clauses > 0 and clauses or nil
  client.notify(protocol.methods.did_change_configuration, { settings = client.settings() })
  require('profd.hints').refresh_all()
  require('profd.events').changed('filters')
  log.info(#clauses > 0 and 'filters: ' .. table.concat(clauses, ' | ') or 'no filters')
end

---@param clauses string[]
local function change(clauses)
  local stack = stack_of(session.uri)
  while #stack.states > stack.at do
    table.remove(stack.states)
  end
  table.insert(stack.states, clauses)
  stack.at = stack.at + 1
  apply(stack)
end

--- Looks through one more filter, once the daemon has understood it.
---@param clause string in its text form
function M.add(clause)
  local other = ('|' .. clause):match('|%s*(metric)%s') or ('|' .. clause):match('|%s*(paths)%s')
  if other then
    local instead = other == 'metric' and '; :Profd metric shows another one' or ''
    return log.error(('%s is no filter%s'):format(clause, instead))
  end
  session.with_profile(function()
    local profile, uri = session.profile, session.uri
    ---@type profd.TableParams
    local params = { profile = profile, spec = 'flat by function | ' .. clause, limit = 1 }
    client.request(protocol.methods.table, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      elseif session.uri ~= uri then
        return -- another profile is shown by now
      end
      -- In the daemon's words, whatever was typed; they end with the metric.
      local meant = result.spec:match('^flat by function | (.*) | metric .*$')
      if not meant then
        return log.error(('%s is no filter; :help profd-filters names them'):format(clause))
      end
      local clauses = vim.list_slice(M.list())
      clauses[#clauses + 1] = meant
      change(clauses)
      for _, warning in ipairs(result.warnings or {}) do
        if vim.startswith(warning, '`') then -- a sentence about a filter; the others are about the file
          log.warn(warning)
        end
      end
    end)
  end)
end

---@param step integer
---@param none string
local function go(step, none)
  session.with_profile(function()
    local stack = stack_of(session.uri)
    if not stack.states[stack.at + step] then
      return log.info(none)
    end
    stack.at = stack.at + step
    apply(stack)
  end)
end

--- `:Profd undo`: takes the last change of the filters back.
function M.undo()
  go(-1, 'no filter to undo')
end

--- `:Profd redo`
function M.redo()
  go(1, 'no filter to redo')
end

--- `:Profd filter [CLAUSE]`: without one, chooses which to let go.
---@param clause? string
function M.run(clause)
  if clause then
    return M.add(clause)
  end
  session.with_profile(function()
    local clauses = M.list()
    if #clauses == 0 then
      return log.info('no filters; :Profd filter drop function NAME sets one')
    end
    vim.ui.select(clauses, { prompt = 'Filter to let go:', kind = 'profd.filter' }, function(_, index)
      if index then
        local left = vim.list_slice(clauses)
        table.remove(left, index)
        change(left)
      end
    end)
  end)
end

--- The filters that hold in words for a heading; nil where none does.
---@param filters string[] those of the project and all others
---@return string?
function M.note(filters)
  return #filters > 0 and 'filters: ' .. table.concat(filters, ' | ') or nil
end

return M
