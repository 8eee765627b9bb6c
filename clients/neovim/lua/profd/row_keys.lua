--- What can be done with a function, wherever it is shown: the same keys in flame graphs, trees and tables.
local M = {}

local filters = require('profd.filters')
local log = require('profd.log')
local place = require('profd.place')

---@class profd.Row: profd.Place
---@field frames string[] whole names from the root down to it; empty in a list
---@field granularity? profd.Granularity absent: functions

---@param row profd.Row
---@return string
local function by(row)
  local what = row.granularity
  return (what == 'file' or what == 'module') and what or 'function'
end

---@param row profd.Row
---@param operator string
local function filter(row, operator)
  filters.add(('%s %s %s'):format(operator, by(row), filters.quote(row.name)))
end

--- The stacks with the run of calls that leads to it; of a list those with it.
---@param row profd.Row
local function focus(row)
  if #row.frames < 2 then
    return filter(row, 'keep')
  end
  filters.add('keep fragment ' .. table.concat(vim.tbl_map(filters.quote, row.frames), ' > '))
end

---@param row profd.Row
local function copy(row)
  vim.fn.setreg('"', row.name)
  if vim.fn.has('clipboard') == 1 then
    pcall(vim.fn.setreg, '+', row.name)
  end
  log.info('copied: ' .. row.name)
end

---@param row_at fun(): profd.Row? what is under the cursor
---@return profd.Key[]
function M.of(row_at)
  ---@param action fun(row: profd.Row)
  local function on_row(action)
    return function()
      local row = row_at()
      if not row then
        return log.info('no function stands here')
      end
      action(row)
    end
  end
  return {
    { 'g', on_row(place.go), 'to the source' },
    {
      'c',
      on_row(function(row)
        require('profd.tree').callers(row.name)
      end),
      'callers, as a tree that unfolds',
    },
    {
      'C',
      on_row(function(row)
        require('profd.tree').callees(row.name)
      end),
      'callees likewise',
    },
    { 'f', on_row(focus), 'only stacks with this path' },
    {
      'x',
      on_row(function(row)
        filter(row, 'hide')
      end),
      'hide it: its cost stays on its caller',
    },
    {
      'X',
      on_row(function(row)
        filter(row, 'drop')
      end),
      'drop the stacks with it',
    },
    {
      'z',
      function()
        filters.add('collapse recursion')
      end,
      'make direct recursion one frame',
    },
    { 'u', filters.undo, 'undo the last filter' },
    { 'U', filters.redo, 'redo it' },
    {
      'm',
      function()
        require('profd.choose').metric()
      end,
      'another metric',
    },
    { 'y', on_row(copy), 'copy the whole name' },
  }
end

return M
