--- `:Profd timeline`: when things ran, in a buffer; a window of it is a filter of all that the plugin shows.
local M = {}

local client = require('profd.client')
local drawn = require('profd.cells')
local filters = require('profd.filters')
local kept = require('profd.kept')
local log = require('profd.log')
local page_of = require('profd.timeline_page')
local protocol = require('profd.protocol')
local scratch = require('profd.scratch')
local session = require('profd.session')
local window = require('profd.view_window')

local CONTENT_MODIFIED = protocol.ErrorCodes.contentModified
local MOST_TRACKS = 200
local MOST_CHARTS = 16
local KEYS = '<CR> closer  + - zoom  < > move  0 all  <BS> back  w keep  W let go  ? keys'
local namespace = vim.api.nvim_create_namespace('profd.timeline')

---@class profd.Timeline what is shown
---@field bufnr integer
---@field profile string
---@field revision integer
---@field looked? profd.Span absent: everything
---@field back (profd.Span|false)[] what was looked at before; false: everything
---@field charts? integer[] tracks by id; absent: the server's choice
---@field answer? profd.TimelineResult
---@field page? profd.TimelinePage
---@field asked integer counts requests: only the newest answer is painted

---@type profd.Timeline?
local shown

--- Windows of time are drawn and not cut out.
---@param done fun(filters: string[])
local function filters_of(done)
  filters.all(function(clauses)
    done(vim.tbl_filter(function(clause)
      return not vim.startswith(clause, 'time ')
    end, clauses))
  end)
end

---@return integer line
---@return integer cell from 0; below 0 in the names
local function pointed()
  local line = vim.api.nvim_win_get_cursor(0)[1]
  return line, vim.fn.virtcol('.') - 1 - (shown and shown.page and shown.page.margin or 0)
end

--- Says what is under the cursor above the window, where it is seen however far down that is.
---@param at profd.Timeline
local function tell(at)
  local line, cell = pointed()
  local found = at.page and page_of.find(at.page, at.answer, line, cell)
  local text = found and found.text or KEYS
  drawn.tell(at.bufnr, text)
end

---@param at profd.Timeline
local function paint(at)
  local kept_window = kept.window
  local page = page_of.compose(at.answer, {
    width = drawn.width_of(at.bufnr),
    title = log.one_line(('%s of %s'):format(at.answer.metric, session.name)),
    kept = kept_window,
    keptText = kept_window and kept_window.clause or nil,
  })
  at.page = page
  drawn.paint(at.bufnr, namespace, page)
end

---@param at profd.Timeline
---@param clauses string[]
---@param done fun(answer: profd.TimelineResult)
local function request(at, clauses, done)
  at.asked = at.asked + 1
  local asked = at.asked
  local tracks = at.answer and at.answer.tracks or {}
  local cells = page_of.room(tracks, drawn.width_of(at.bufnr))
  ---@type profd.TimelineParams
  local params = {
    profile = session.profile,
    spec = table.concat(vim.list_extend({ 'top-down' }, clauses), ' | '),
    from = at.looked and at.looked.from,
    to = at.looked and at.looked.to,
    width = cells,
    minWidth = 1,
    columns = cells,
    tracks = MOST_TRACKS,
    charts = at.charts,
    revision = at.charts and at.revision,
    panelId = 'timeline',
  }
  client.request(protocol.methods.timeline, params, function(result, err)
    local gone = at.bufnr ~= -1 and not vim.api.nvim_buf_is_valid(at.bufnr)
    if shown ~= at or at.asked ~= asked or gone then
      return
    elseif err and err.code == CONTENT_MODIFIED and at.charts then
      at.charts = nil -- another recording has other tracks
      return request(at, clauses, done)
    elseif err then
      return log.error(session.sentence(err))
    end
    ---@cast result profd.TimelineResult
    at.revision = result.revision
    -- Names that were not known when the cells were counted may take more room.
    if page_of.room(result.tracks, drawn.width_of(at.bufnr)) ~= cells then
      at.answer = result
      return request(at, clauses, done)
    end
    done(result)
  end)
end

--- Asks for what is to be looked at, and shows it.
---@param at profd.Timeline
---@param done? fun()
local function ask(at, done)
  filters_of(function(clauses)
    request(at, clauses, function(answer)
      at.answer = answer
      paint(at)
      if vim.api.nvim_get_current_buf() == at.bufnr then
        tell(at)
      end
      if done then
        done()
      end
    end)
  end)
end

---@return profd.Span
local function everything()
  return { from = shown.answer.begin, to = shown.answer['end'] }
end

--- What was asked for last: keys may come faster than answers.
---@return profd.Span
local function looked_at()
  return shown.looked or everything()
end

---@param span profd.Span
local function look(span)
  local all = everything()
  local held = page_of.held(span, all)
  table.insert(shown.back, shown.looked or false)
  shown.looked = page_of.length(held) < page_of.length(all) and held or nil
  ask(shown)
end

--- The time at a cell; the names are where it begins.
---@param span profd.Span
---@param cell number
---@return number
local function time_at(span, cell)
  return span.from + math.max(0, math.min(1, cell / shown.page.cells)) * page_of.length(span)
end

---@param factor number
local function zoom(factor)
  local _, cell = pointed()
  local span = looked_at()
  local at = cell < 0 and (span.from + span.to) / 2 or time_at(span, cell + 0.5)
  look(page_of.zoomed(span, everything(), at, factor))
end

---@param part number
local function move(part)
  local span = looked_at()
  local step = part * page_of.length(span)
  look({ from = span.from + step, to = span.to + step })
end

local function look_at_all()
  look(everything())
end

--- <CR>: the flame chart of a thread, or closer to a box.
local function enter()
  local line, cell = pointed()
  local found = page_of.find(shown.page, shown.answer, line, cell)
  if found and found.track then
    local charts = shown.charts or vim.tbl_map(function(chart)
      return chart.track
    end, shown.answer.charts)
    local others = vim.tbl_filter(function(id)
      return id ~= found.track.id
    end, charts)
    if #others == #charts then
      table.insert(others, found.track.id)
      if #others > MOST_CHARTS then
        table.remove(others, 1)
      end
    end
    shown.charts = others
    ask(shown)
  elseif found and found.span then
    local room = 0.1 * page_of.length(found.span)
    look({ from = found.span.from - room, to = found.span.to + room })
  end
end

local function back()
  local before = table.remove(shown.back)
  if before == nil then
    return log.info('nothing was looked at before')
  end
  shown.looked = before or nil
  ask(shown)
end

--- Makes a window the filter of everything; the server says how it is written.
---@param span profd.Span
local function keep(span)
  ---@type profd.TimelineParams
  local params = {
    profile = session.profile,
    spec = 'top-down',
    from = span.from,
    to = span.to,
    tracks = 1,
    columns = 1,
    charts = {},
    revision = shown.revision,
  }
  client.request(protocol.methods.timeline, params, function(result, err)
    if err or not result.filter then
      return log.error(err and session.sentence(err) or 'this window is too far off to be a filter')
    end
    kept.keep_window({ from = result.from, to = result.to, clause = result.filter })
  end)
end

--- What is marked in visual mode, or all that is shown.
---@param marked boolean
local function keep_shown(marked)
  local span = shown.page.span -- as it is on the screen
  if not marked then
    return keep({ from = span.from, to = span.to })
  end
  local margin = shown.page.margin
  local one, other = vim.fn.virtcol('v') - 1 - margin, vim.fn.virtcol('.') - 1 - margin
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  local from, to = math.min(one, other), math.max(one, other) + 1
  local cell = page_of.length(span) / shown.page.cells
  keep(page_of.held(page_of.rounded({ from = time_at(span, from), to = time_at(span, to) }, cell), everything()))
end

---@type profd.Key[]
local keys = {
  { '<CR>', enter, 'flame chart of a thread, closer on a box' },
  { '+', zoom, 'closer', with = 2 },
  { '-', zoom, 'wider', with = 0.5 },
  { '<', move, 'earlier', with = -0.2 },
  { '>', move, 'later', with = 0.2 },
  { '0', look_at_all, 'everything' },
  { '<BS>', back, 'what was looked at before' },
  { 'w', keep_shown, 'keep what is shown, everywhere', with = false },
  { 'w', keep_shown, 'keep what is marked, everywhere', with = true, mode = 'x' },
  { 'W', kept.keep_window, 'let the window go' },
}

---@type profd.ViewWindow
local about = {
  name = 'timeline',
  title = 'Timeline',
  keys = keys,
  shown = function()
    return shown
  end,
  tell = function()
    tell(shown)
  end,
  refit = function()
    M.refit()
  end,
  refresh = function()
    M.refresh()
  end,
}

--- The window may have another width now.
function M.refit()
  if window.is_seen(shown) and shown.page and session.profile then
    local cells = page_of.room(shown.answer.tracks, drawn.width_of(shown.bufnr))
    if cells ~= shown.page.cells then
      ask(shown)
    end
  end
end

--- The metric, filters, the profile or its file are others now.
function M.refresh()
  if not window.is_seen(shown) or not session.profile then
    return
  end
  if shown.profile ~= session.profile then
    shown.profile, shown.looked, shown.charts, shown.back = session.profile, nil, nil, {}
  end
  ask(shown)
end

--- `:Profd timeline`
function M.show()
  session.with_profile(function()
    if window.is_seen(shown) and shown.profile == session.profile and shown.page then
      return window.enter(shown)
    end
    local before = shown
    ---@type profd.Timeline
    local at = { bufnr = -1, profile = session.profile, revision = session.revision, back = {}, asked = 0 }
    if before and before.profile == at.profile then
      at.looked, at.charts, at.revision, at.back = before.looked, before.charts, before.revision, before.back
    end
    shown = at
    filters_of(function(clauses)
      request(at, clauses, function(answer)
        at.answer = answer
        at.bufnr = window.open(about)
        paint(at)
        scratch.set_height(#at.page.lines + 1)
        vim.api.nvim_win_set_cursor(0, { next(at.page.rows) and vim.fn.min(vim.tbl_keys(at.page.rows)) or 1, 0 })
        tell(at)
        M.refit()
      end)
    end)
  end)
end

return M
