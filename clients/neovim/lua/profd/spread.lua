--- How the values of the inputs of an aggregate lie, beside the rows of trees and tables.
local M = {}

local client = require('profd.client')
local protocol = require('profd.protocol')
local session = require('profd.session')

local POINTS = 16

--- What tables of aggregates are sorted by.
M.SORTS = { 'sum', 'lost', 'max', 'deviation', 'imbalance', 'mean' }

---@return boolean
function M.is_aggregate()
  return vim.startswith(session.uri or '', 'aggregate:')
end

--- Of a table the answer has it.
---@param nodes profd.TreeNode[]
---@param answer profd.SpreadResult
function M.fill(nodes, answer)
  local columns = answer.columns
  for i, node in ipairs(nodes) do
    local uneven, lost = columns.imbalanceText[i], columns.lostText[i]
    node.row.spread = {
      mean = columns.meanText[i],
      range = ('%s – %s'):format(columns.minText[i], columns.maxText[i]),
      deviation = columns.deviationText[i],
      series = columns.series[i],
      lost = lost,
      text = uneven ~= ''
          and ('the largest is %s above the mean; the others wait %s for it in all'):format(uneven, lost)
        or 'no input has any of its own',
    }
  end
end

---@param trend? profd.SeriesTrend
---@return string
local function trend_of(trend)
  if not trend or trend.kind == protocol.TrendKind.tooFew then
    return '?'
  elseif trend.kind == protocol.TrendKind.rising then
    return trend.slopeText or 'rises'
  end
  return trend.kind == protocol.TrendKind.reclaimed and 'given back' or 'steady'
end

--- Of a tree each node is asked about by itself; `done` runs when all are there, with a sentence where series have
--- fewer values than there are inputs.
---@param profile string
---@param spec string
---@param revision integer
---@param nodes profd.TreeNode[]
---@param done fun(thinned?: string)
function M.ask(profile, spec, revision, nodes, done)
  local left = #nodes
  for _, node in ipairs(nodes) do
    ---@type profd.SeriesParams
    local params = { profile = profile, spec = spec, at = node.keys, revision = revision, points = POINTS, bins = 1 }
    client.request(protocol.methods.series, params, function(result)
      local lies = result and result.spread
      node.row.spread = {
        mean = lies and lies.meanText or '?',
        range = lies and ('%s – %s'):format(lies.minText, lies.maxText) or '?',
        deviation = lies and lies.deviationText or '?',
        series = result and result.points.value or {},
        trend = trend_of(result and result.trend),
        text = result and result.text or 'not known',
      }
      left = left - 1
      if left == 0 then
        done(result and result.thinned)
      end
    end)
  end
end

return M
