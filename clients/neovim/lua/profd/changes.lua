--- The functions of a diff by what became of them, with the places to jump to.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

local ROWS = 200
local PLACES = 1000 -- as many as the daemon gives at once

---@class profd.ChangedPlace
---@field name string
---@field shortName? string
---@field cuts? integer[]
---@field file? string as the profile says
---@field line? integer 1-based
---@field module? string
---@field uri? string the file in the workspace
---@field outside? string the file on this machine, outside of the workspace
---@field change string what became of its self value, as shown
---@field mark string `[A]` where it is there after alone, `[D]` before alone

---@class profd.Changes
---@field total string both sides and the change of all, as shown
---@field filters? string[] those of the workspace that were applied
---@field places profd.ChangedPlace[]

local MARKS = { [protocol.ChangeKind.added] = '[A]', [protocol.ChangeKind.deleted] = '[D]' }

--- What a heading calls the metric of a diff: that of both sides, whichever of them is the larger one.
---@param metric string
---@return string
function M.metric(metric)
  return (metric:gsub(' larger$', ''))
end

--- Both totals and what became of them.
---@param sides profd.SideTotals
---@return string
function M.total(sides)
  return ('%s → %s, %s'):format(sides.before.text, sides.after.text, sides.change)
end

---@param name string
---@param file? string
---@param line? integer
---@return string
local function key_of(name, file, line)
  return table.concat({ name, file or '', tostring(line or 0) }, '\0')
end

--- The rows of a table, with the files that the daemon found for the same functions.
---@param result profd.TableResult
---@param known profd.HotFunction[]
---@return profd.ChangedPlace[]
local function places_of(result, known)
  ---@type table<string, profd.HotFunction>
  local found = {}
  for _, place in ipairs(known) do
    found[key_of(place.name, place.file, place.line)] = place
  end
  local rows, changes = result.rows, result.changes
  local places = {}
  for i, index in ipairs(rows.name) do
    local name, file = result.names[index + 1], result.files[rows.file[i] + 1]
    local place = found[key_of(name, file, rows.line[i])] or {}
    places[i] = {
      name = name,
      shortName = result.labels[index + 1],
      cuts = result.cuts and result.cuts[index + 1],
      file = file,
      line = rows.line[i],
      module = result.modules[rows.module[i] + 1],
      uri = place.uri,
      outside = place.outside,
      change = changes.selfChange[i],
      mark = MARKS[changes.change[i]] or '',
    }
  end
  return places
end

--- Asks for the functions of the diff that is shown.
---@param sort 'change'|'worse'|'better'
---@param done fun(changes: profd.Changes)
function M.ask(sort, done)
  local profile = session.profile
  ---@type profd.HotspotsParams
  local where = { profile = profile, limit = PLACES, workspaceFilters = true } -- the filters of the hints beside the code
  client.request(protocol.methods.hotspots, where, function(known, problem)
    if problem then
      return log.error(session.sentence(problem))
    end
    ---@type profd.TableParams
    local params = {
      profile = profile,
      spec = table.concat(vim.list_extend({ 'flat by function' }, known.filters or {}), ' | '),
      sort = protocol.TableSort[sort],
      changedOnly = true,
      limit = ROWS,
    }
    client.request(protocol.methods.table, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      done({ total = M.total(result.sides), filters = known.filters, places = places_of(result, known.places) })
    end)
  end)
end

return M
