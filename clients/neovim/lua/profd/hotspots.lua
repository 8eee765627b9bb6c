--- The hottest places as a quickfix list.
local M = {}

local client = require('profd.client')
local fit = require('profd.fit')
local log = require('profd.log')
local outside = require('profd.outside')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@param place profd.HotFunction
---@return string
local function name_of(place)
  return log.one_line(place.shortName or place.name)
end

---@alias profd.HotspotsSort 'self'|'total'|'change' the last of diffs

--- The numbers before the names, in columns.
---@param places (profd.HotFunction|profd.ChangedPlace)[]
---@param sort profd.HotspotsSort
---@return string[]
local function costs_of(places, sort)
  local function text_of(place)
    return sort == 'change' and place.change or place[sort].text
  end
  local width = 0
  for _, place in ipairs(places) do
    width = math.max(width, vim.api.nvim_strwidth(text_of(place)))
  end
  return vim.tbl_map(function(place)
    local text = text_of(place)
    local pad = (' '):rep(width - vim.api.nvim_strwidth(text))
    if sort == 'change' then
      return ('%s%s  %3s  '):format(text, pad, place.mark)
    end
    return ('%7s  %s%s  '):format(place[sort].shareText or '', pad, text)
  end, places)
end

---@param places (profd.HotFunction|profd.ChangedPlace)[]
---@param sort profd.HotspotsSort
---@return vim.quickfix.entry[]
function M.items(places, sort)
  local costs = costs_of(places, sort)
  local items = {}
  for i, place in ipairs(places) do
    local at = place.line ~= nil and place.line > 0
    -- A file that only the profile knows is opened when the user says so.
    local beyond = at and place.uri == nil and place.outside or nil
    local file = place.uri and vim.uri_to_fname(place.uri) or beyond and outside.is_allowed(beyond) and beyond or nil
    local jump = at and file ~= nil
    items[i] = {
      filename = jump and file or nil,
      lnum = jump and place.line or 0,
      col = jump and 1 or 0,
      text = costs[i] .. name_of(place),
      valid = jump and 1 or 0,
      user_data = {
        where = not jump and not beyond and place.module and vim.fs.basename(place.module) or nil,
        outside = not jump and beyond or nil,
        line = beyond and place.line or nil,
        cost = costs[i],
        name = name_of(place),
        cuts = place.cuts,
      },
    }
  end
  return items
end

--- How many columns of text the window of the list shows; the whole screen before there is one.
---@param id integer of the list
---@return integer
local function room_of(id)
  local window = vim.fn.getqflist({ id = id, winid = 0 }).winid
  local info = window and window ~= 0 and vim.fn.getwininfo(window)[1]
  return (info and info.width - info.textoff or vim.o.columns) - 1
end

--- The text of the quickfix window: place, cost, name, in columns, and in the form that its syntax colours. A name or a
--- path that does not fit keeps the part that tells it from others.
---@param info {id: integer, start_idx: integer, end_idx: integer}
---@return string[]
function M.text(info)
  local items = vim.fn.getqflist({ id = info.id, items = 0 }).items
  local room = room_of(info.id)
  local widest = math.floor(room * 0.4)
  local function path_of(file, tail)
    return fit.ending(log.one_line(vim.fn.fnamemodify(file, ':~:.')), widest - #tail) .. tail
  end
  local places, width = {}, 0
  for i, item in ipairs(items) do
    local data = type(item.user_data) == 'table' and item.user_data or {}
    if item.valid == 1 then
      places[i] = path_of(vim.api.nvim_buf_get_name(item.bufnr), ('|%d|'):format(item.lnum))
    elseif data.outside then
      places[i] = path_of(data.outside, (':%d||'):format(data.line))
    else
      places[i] = fit.beginning(data.where or '', widest - 2) .. '||'
    end
    width = math.max(width, vim.api.nvim_strwidth(places[i]))
  end
  local lines = {}
  for i = info.start_idx, info.end_idx do
    local data = type(items[i].user_data) == 'table' and items[i].user_data or {}
    local before = places[i] .. (' '):rep(width - vim.api.nvim_strwidth(places[i])) .. ' ' .. (data.cost or '')
    local name = data.name and fit.name(data.name, data.cuts, room - vim.api.nvim_strwidth(before)) or items[i].text
    lines[#lines + 1] = before .. name
  end
  return lines
end

--- <CR> in the quickfix window: asks for a file outside the workspace, and is as ever on everything else.
---@param places (profd.HotFunction|profd.ChangedPlace)[]
---@param sort profd.HotspotsSort
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

--- What the numbers are of.
---@param what string
---@param filters? string[]
---@return string
function M.title(what, filters)
  return log.one_line('profd: ' .. table.concat(vim.list_extend({ what }, filters or {}), ' | '))
end

--- Writes the texts of a list of ours anew, for a window that has another width now.
---@param id integer
local function refit(id)
  local list = vim.fn.getqflist({ id = id, items = 0, idx = 0, context = 0, winid = 0 })
  if list.id ~= id or list.winid == 0 or type(list.context) ~= 'table' or not list.context.profd then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(list.winid)
  vim.fn.setqflist({}, 'r', { id = id, items = list.items, idx = list.idx, quickfixtextfunc = M.text })
  vim.api.nvim_win_set_cursor(list.winid, cursor)
end

vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
  group = vim.api.nvim_create_augroup('profd.hotspots', {}),
  callback = function()
    refit(vim.fn.getqflist({ id = 0 }).id)
  end,
})

---@param title string
---@param places (profd.HotFunction|profd.ChangedPlace)[]
---@param sort profd.HotspotsSort
local function fill(title, places, sort)
  local items = M.items(places, sort)
  vim.fn.setqflist({}, ' ', { title = title, items = items, quickfixtextfunc = M.text, context = { profd = true } })
  local id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd('botright copen ' .. math.max(3, math.min(#items, 12)))
  refit(id)
  vim.keymap.set('n', '<CR>', function()
    jump(places, sort, id)
  end, { buffer = true, desc = 'go to the place' })
end

---@class profd.Hottest
---@field what string what the numbers are of
---@field filters? string[]
---@field places (profd.HotFunction|profd.ChangedPlace)[] at least one
---@field sort profd.HotspotsSort

--- Gives what there is, or says that there is nothing.
---@param answer profd.Hottest
---@param done fun(answer: profd.Hottest)
local function give(answer, done)
  if #answer.places == 0 then
    local filters = answer.filters
    local left = filters and #filters > 0 and ' that passes ' .. table.concat(filters, ' | ')
    local none = answer.sort == 'change' and 'no change' or 'no cost to show'
    return log.info(('%s has %s%s'):format(session.name, none, left or ''))
  end
  done(answer)
end

---@param granularity 'function'|'line'
---@param done fun(answer: profd.Hottest)
local function ask_hottest(granularity, done)
  -- Functions by what they do themselves. Lines as the hints have them: with what they call, and with their text.
  local lines = granularity == protocol.Granularity.line
  local sort = lines and 'total' or 'self'
  ---@type profd.HotspotsParams
  local params = {
    profile = session.profile,
    granularity = granularity,
    sort = sort,
    onlyWithSource = lines,
    workspaceFilters = true, -- as the hints beside the code
  }
  client.request(protocol.methods.hotspots, params, function(result, err)
    if err then
      return log.error(session.sentence(err))
    end
    local what = ('%s of %s, %s'):format(result.metric, session.name, sort)
    give({ what = what, filters = result.filters, places = result.places, sort = sort }, done)
  end)
end

---@param sort 'change'|'worse'|'better'
---@param done fun(answer: profd.Hottest)
local function ask_changes(sort, done)
  require('profd.changes').ask(sort, function(changes)
    local what = ('%s of %s, self'):format(changes.total, session.name)
    give({ what = what, filters = changes.filters, places = changes.places, sort = 'change' }, done)
  end)
end

---@type table<string, fun(what: string, done: fun(answer: profd.Hottest))>
local of_profiles = { ['function'] = ask_hottest, line = ask_hottest }
local of_diffs = { change = ask_changes, worse = ask_changes, better = ask_changes }

--- What `:Profd hotspots` takes; the first of them is the default.
---@return string[]
function M.takes()
  return session.is_diff() and { 'change', 'worse', 'better' } or { 'function', 'line' }
end

--- The hottest places of the profile that is shown.
---@param what? string as M.takes() has them
---@param done fun(answer: profd.Hottest)
function M.ask(what, done)
  session.with_profile(function()
    local takes = M.takes()
    local run = (session.is_diff() and of_diffs or of_profiles)[what or takes[1]]
    if not run then
      local last = table.remove(takes)
      return log.error(('%s is listed by %s or %s'):format(session.name, table.concat(takes, ', '), last))
    end
    run(what or takes[1], done)
  end)
end

--- `:Profd hotspots [function|line]`, of diffs `[change|worse|better]`
---@param what? string
function M.show(what)
  M.ask(what, function(answer)
    fill(M.title(answer.what, answer.filters), answer.places, answer.sort)
  end)
end

return M
