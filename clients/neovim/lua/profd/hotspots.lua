--- The hottest places as a quickfix list.
local M = {}

local client = require('profd.client')
local log = require('profd.log')
local outside = require('profd.outside')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@param place profd.HotFunction
---@return string
local function name_of(place)
  return log.one_line(place.shortName or place.name)
end

---@param places profd.HotFunction[]
---@param sort 'self'|'total'
---@return vim.quickfix.entry[]
function M.items(places, sort)
  local width = 0
  for _, place in ipairs(places) do
    width = math.max(width, vim.api.nvim_strwidth(place[sort].text))
  end
  local items = {}
  for i, place in ipairs(places) do
    local at = place.line ~= nil and place.line > 0
    -- A file that only the profile knows is opened when the user says so.
    local beyond = at and place.uri == nil and place.outside or nil
    local file = place.uri and vim.uri_to_fname(place.uri) or beyond and outside.is_allowed(beyond) and beyond or nil
    local jump = at and file ~= nil
    local text = ('%7s  %s%s  %s'):format(
      place[sort].shareText or '',
      (' '):rep(width - vim.api.nvim_strwidth(place[sort].text)),
      place[sort].text,
      name_of(place)
    )
    items[i] = {
      filename = jump and file or nil,
      lnum = jump and place.line or 0,
      col = jump and 1 or 0,
      text = text,
      valid = jump and 1 or 0,
      user_data = {
        where = not jump and not beyond and place.module and vim.fs.basename(place.module) or nil,
        outside = not jump and beyond or nil,
        line = beyond and place.line or nil,
      },
    }
  end
  return items
end

--- The text of the quickfix window: place, cost, name, in columns, and in the form that its syntax colours.
---@param info {id: integer, start_idx: integer, end_idx: integer}
---@return string[]
function M.text(info)
  local items = vim.fn.getqflist({ id = info.id, items = 0 }).items
  local places, width = {}, 0
  for i, item in ipairs(items) do
    if item.valid == 1 then
      places[i] = ('%s|%d|'):format(vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':~:.'), item.lnum)
    else
      local data = type(item.user_data) == 'table' and item.user_data or {}
      local beyond = data.outside and ('%s:%d'):format(log.one_line(vim.fn.fnamemodify(data.outside, ':~')), data.line)
      places[i] = (beyond or data.where or '') .. '||'
    end
    width = math.max(width, vim.api.nvim_strwidth(places[i]))
  end
  local lines = {}
  for i = info.start_idx, info.end_idx do
    lines[#lines + 1] = places[i] .. (' '):rep(width - vim.api.nvim_strwidth(places[i])) .. ' ' .. items[i].text
  end
  return lines
end

--- <CR> in the quickfix window: asks for a file outside the workspace, and is as ever on everything else.
---@param places profd.HotFunction[]
---@param sort 'self'|'total'
---@param id integer of the list
local function jump(places, sort, id)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local list = vim.fn.getqflist({ id = 0, items = 0 })
  local item = list.id == id and list.items[row]
  local beyond = item and item.valid == 0 and type(item.user_data) == 'table' and item.user_data.outside
  local enter = vim.api.nvim_replace_termcodes('<CR>', true, false, true)
  if not beyond then
    return vim.api.nvim_feedkeys(enter, 'n', false)
  end
  outside.ask(beyond, function()
    -- What may be opened now is an entry like the others, for :cnext too.
    vim.fn.setqflist({}, 'r', { id = id, items = M.items(places, sort), quickfixtextfunc = M.text })
    vim.cmd('cc ' .. row)
  end)
end

---@param result profd.HotspotsResult
---@param sort 'self'|'total'
local function fill(result, sort)
  local items = M.items(result.places, sort)
  vim.fn.setqflist({}, ' ', {
    title = ('profd: %s of %s, %s'):format(result.metric, session.name, sort),
    items = items,
    quickfixtextfunc = M.text,
    context = { profd = true },
  })
  local id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen ' .. math.max(3, math.min(#items, 12)))
  vim.keymap.set('n', '<CR>', function()
    jump(result.places, sort, id)
  end, { buffer = true, desc = 'go to the place' })
end

--- `:Profd hotspots [function|line]`
---@param granularity? string
function M.show(granularity)
  session.with_profile(function()
    -- Functions by what they do themselves. Lines as the hints have them: with what they call, and with their text.
    local lines = granularity == protocol.Granularity.line
    local sort = lines and 'total' or 'self'
    ---@type profd.HotspotsParams
    local params = {
      profile = session.profile,
      granularity = granularity or protocol.Granularity['function'],
      sort = sort,
      onlyWithSource = lines,
      filters = client.mine and { { op = protocol.FilterOp.collapse, by = protocol.FilterBy.mine } } or nil,
    }
    client.request(protocol.methods.hotspots, params, function(result, err)
      if err then
        return log.error(session.sentence(err))
      end
      if #result.places == 0 then
        return log.info(('%s has no cost to show'):format(session.name))
      end
      fill(result, sort)
    end)
  end)
end

return M
