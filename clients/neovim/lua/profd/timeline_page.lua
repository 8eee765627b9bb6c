--- A timeline as lines of characters: the load of every thread, flame charts below those that are chosen.
local M = {}

local cells = require('profd.cells')
local fit = require('profd.fit')
local log = require('profd.log')
local protocol = require('profd.protocol')
local text_page = require('profd.text_page')

local LOAD = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }
local EDGE, JOINED, GAP = '▏', '░', '╱'
local NAME_MOST, AMOUNT = 24, 8
local MARK_ROOM = 16

---@class profd.Span a window of time in nanoseconds
---@field from number
---@field to number

---@class profd.TimelineRow what a line of the buffer shows
---@field track integer index into the tracks of the answer
---@field chart? profd.TimelineChart absent: the load
---@field boxes? table<integer, integer> by cell, from 0: index into the boxes
---@field gaps? table<integer, integer> likewise

---@class profd.TimelinePage
---@field lines string[]
---@field marks profd.Mark[]
---@field rows table<integer, profd.TimelineRow> by 1-based line
---@field margin integer columns before the first cell
---@field cells integer
---@field span profd.Span

---@param span profd.Span
---@return number
function M.length(span)
  return span.to - span.from
end

--- In whole nanoseconds and inside of `all`; the length stays where there is room for it.
---@param span profd.Span
---@param all profd.Span
---@return profd.Span
function M.held(span, all)
  local length = math.min(math.max(1, math.floor(M.length(span) + 0.5)), M.length(all))
  local from = math.min(math.max(math.floor(span.from + 0.5), all.from), all.to - length)
  return { from = from, to = from + length }
end

--- Above 1 shows less; what is at `at` stays where it is.
---@param span profd.Span
---@param all profd.Span
---@param at number
---@param factor number
---@return profd.Span
function M.zoomed(span, all, at, factor)
  local length = math.max(1, M.length(span) / factor)
  local from = at - (at - span.from) / M.length(span) * length
  return M.held({ from = from, to = from + length }, all)
end

--- With no more digits than cells that are `cell` nanoseconds wide can tell.
---@param span profd.Span
---@param cell number
---@return profd.Span
function M.rounded(span, cell)
  local step = math.max(1, 10 ^ math.floor(math.log10(math.max(1, cell))))
  local from = math.floor(span.from / step + 0.5) * step
  return { from = from, to = math.max(from + step, math.floor(span.to / step + 0.5) * step) }
end

local UNITS = { { 's', 1e9 }, { 'ms', 1e6 }, { 'µs', 1e3 }, { 'ns', 1 } }

--- Moments of an axis, at least `apart` nanoseconds from each other, in numbers that are round.
---@param span profd.Span
---@param apart number
---@return {at: number, text: string}[]
function M.moments(span, apart)
  local power = 10 ^ math.floor(math.log10(math.max(1, apart)))
  local step = power * 10
  for _, n in ipairs({ 5, 2, 1 }) do
    step = n * power >= apart and n * power or step
  end
  step = math.max(1, step)
  local largest, unit = math.max(math.abs(span.from), math.abs(span.to)), UNITS[4]
  for i = #UNITS, 1, -1 do
    unit = largest >= UNITS[i][2] and UNITS[i] or unit
  end
  local digits = math.max(0, math.ceil(math.log10(unit[2] / step) - 1e-9))
  local moments = {}
  local at = math.ceil(span.from / step) * step
  while at <= span.to do
    local number = at == 0 and '0' or ('%%.%df'):format(digits):format(at / unit[2])
    moments[#moments + 1] = { at = at, text = number .. ' ' .. unit[1] }
    at = at + step
  end
  return moments
end

--- The highlight of a box: its hue is that of its group, or of its name where it has none; its shade that of its name.
---@param answer profd.TimelineResult
---@param name integer from 0
---@return string
local function look_of(answer, name)
  local group = answer.named and answer.named.group[name + 1] or -1
  return cells.look_of(answer.groups and answer.groups[group + 1], answer.names[name + 1])
end

--- Cells that something covers that begins `x` nanoseconds after the answer's window.
---@param page profd.TimelinePage
---@param answer profd.TimelineResult
---@param x number
---@param width number
---@return integer from
---@return integer to after the last
---@return boolean begins it begins on the screen
local function cells_of(page, answer, x, width)
  local scale = page.cells / M.length(page.span)
  local left = (answer.from - page.span.from + x) * scale
  local from = math.floor(left + 0.5)
  local to = math.max(math.floor(left + width * scale + 0.5), from + 1)
  return math.max(from, 0), math.min(to, page.cells), from >= 0
end

--- The cells that are in the window that is kept; all where none is.
---@param page profd.TimelinePage
---@param kept profd.Span?
---@return integer from
---@return integer to after the last
local function kept_cells(page, kept)
  if not kept then
    return 0, page.cells
  end
  local scale = page.cells / M.length(page.span)
  local from = math.floor((kept.from - page.span.from) * scale + 0.5)
  local to = math.floor((kept.to - page.span.from) * scale + 0.5)
  return math.max(0, from), math.min(page.cells, math.max(to, from + 1))
end

---@param page profd.TimelinePage
local function add_axis(page)
  local text, at = (' '):rep(page.margin), 0
  local scale = page.cells / M.length(page.span)
  for _, moment in ipairs(M.moments(page.span, MARK_ROOM / scale)) do
    local cell = math.floor((moment.at - page.span.from) * scale + 0.5)
    local mark = EDGE .. moment.text
    local width = vim.api.nvim_strwidth(mark)
    if cell >= at and cell + width <= page.cells then
      text = text .. (' '):rep(cell - at) .. mark
      at = cell + width
    end
  end
  page.marks[#page.marks + 1] = { line = #page.lines, from = 0, to = #text, group = 'ProfdHint' }
  page.lines[#page.lines + 1] = text
end

---@param page profd.TimelinePage
---@param answer profd.TimelineResult
---@param number integer of the track
---@param is_open boolean
---@param kept profd.Span?
local function add_load(page, answer, number, is_open, kept)
  local track = answer.tracks[number]
  local piece, finish = cells.new_line(page)
  local name_width = page.margin - AMOUNT - 4
  local kept_from, kept_to = kept_cells(page, kept)
  piece(is_open and '▾ ' or '▸ ', 'ProfdHint')
  piece(fit.left(fit.beginning(log.one_line(track.name), name_width), name_width), is_open and 'ProfdTitle' or nil)
  piece((' '):rep(AMOUNT + 1 - vim.api.nvim_strwidth(track.loadText)) .. track.loadText .. ' ')
  for cell = 0, page.cells - 1 do
    local from = page.span.from + cell / page.cells * M.length(page.span)
    local column = math.floor((from - answer.from) / (answer.to - answer.from) * #track.load + 1e-9)
    local load = track.load[column + 1] or 0
    local part = math.min(1, load / math.max(1e-12, answer.full))
    local group = cell >= kept_from and cell < kept_to and 'ProfdLoad' or 'ProfdQuiet'
    if load > 0 then
      piece(LOAD[math.max(1, math.ceil(part * #LOAD))], group)
    else
      piece(' ')
    end
  end
  finish()
  page.rows[#page.lines] = { track = number }
end

--- Which box has which cell of which row. What was joined steps back behind boxes that are by themselves.
---@param page profd.TimelinePage
---@param answer profd.TimelineResult
---@param chart profd.TimelineChart
---@return table<integer, table<integer, integer>> by row and cell, from 0
---@return integer rows
local function places_of(page, answer, chart)
  local boxes, places, rows = chart.boxes, {}, 0
  for _, joined in ipairs({ true, false }) do
    for i, name in ipairs(boxes.name) do
      local from, to = cells_of(page, answer, boxes.x[i], boxes.width[i])
      if (name < 0) == joined and from < to then
        local depth = boxes.depth[i]
        rows = math.max(rows, depth + 1)
        places[depth] = places[depth] or {}
        for cell = from, to - 1 do
          places[depth][cell] = i
        end
      end
    end
  end
  return places, rows
end

---@param answer profd.TimelineResult
---@param chart profd.TimelineChart
---@param box integer
---@param room integer
---@param begins boolean
---@return string
local function text_of(answer, chart, box, room, begins)
  local name = chart.boxes.name[box]
  if name < 0 then
    return JOINED:rep(room)
  end
  local edge = begins and EDGE or ''
  local left = room - (begins and 1 or 0)
  local label = log.one_line(answer.labels[name + 1])
  local text = left > 1 and fit.name(label, answer.cuts and answer.cuts[name + 1], left) or ''
  return edge .. fit.left(text, left)
end

---@param page profd.TimelinePage
---@param answer profd.TimelineResult
---@param number integer of the track
---@param chart profd.TimelineChart
---@param kept profd.Span?
local function add_chart(page, answer, number, chart, kept)
  local places, rows = places_of(page, answer, chart)
  local gaps = {}
  for i, x in ipairs(chart.gaps.x) do
    local from, to = cells_of(page, answer, x, chart.gaps.width[i])
    for cell = from, to - 1 do
      gaps[cell] = i
    end
  end
  local kept_from, kept_to = kept_cells(page, kept)
  for depth = 0, math.max(rows, 1) - 1 do
    local piece, finish = cells.new_line(page)
    piece((' '):rep(page.margin))
    local row, cell = places[depth] or {}, 0
    local gaps_here = depth == 0 and gaps or {}
    while cell < page.cells do
      local box, stop = row[cell], cell + 1
      while stop < page.cells and row[stop] == box and (box or gaps_here[stop] == gaps_here[cell]) do
        stop = stop + 1
      end
      if box then
        local from, _, begins = cells_of(page, answer, chart.boxes.x[box], chart.boxes.width[box])
        local text = text_of(answer, chart, box, stop - cell, begins and from == cell)
        local name = chart.boxes.name[box]
        local one = cells.bytes_of(text, kept_from - cell)
        local other = math.max(one, cells.bytes_of(text, kept_to - cell))
        piece(text:sub(1, one), 'ProfdQuiet')
        piece(text:sub(one + 1, other), name < 0 and 'ProfdQuiet' or look_of(answer, name))
        piece(text:sub(other + 1), 'ProfdQuiet')
      else
        local gap = gaps_here[cell]
        piece((gap and GAP or ' '):rep(stop - cell), gap and 'ProfdQuiet' or nil)
      end
      cell = stop
    end
    finish()
    page.rows[#page.lines] = { track = number, chart = chart, boxes = row, gaps = gaps_here }
  end
end

--- How many cells a window of this width has beside the names, and how many columns those take.
---@param tracks profd.TimelineTrack[]
---@param width integer
---@return integer cells
---@return integer margin
function M.room(tracks, width)
  local names = 6
  for _, track in ipairs(tracks) do
    names = math.max(names, vim.api.nvim_strwidth(log.one_line(track.name)))
  end
  local margin = math.min(names, NAME_MOST, math.max(6, math.floor(width / 4))) + AMOUNT + 4
  return math.max(10, width - margin - 1), margin
end

---@param answer profd.TimelineResult
---@param about {width: integer, title: string, kept?: profd.Span, keptText?: string}
---@return profd.TimelinePage
function M.compose(answer, about)
  local room, margin = M.room(answer.tracks, about.width)
  ---@type profd.TimelinePage
  local page = { lines = {}, marks = {}, rows = {}, margin = margin, cells = room, span = answer }
  local function add_note(text, indent)
    text_page.add_sentence(page, text, 'ProfdHint', about.width, indent)
  end
  text_page.add(page, log.one_line(('%s: %s'):format(about.title, answer.windowText)), 'ProfdTitle')
  add_note(answer.basis)
  if about.keptText then
    add_note('Kept everywhere: ' .. about.keptText)
  end
  add_axis(page)
  local charts = {}
  for _, chart in ipairs(answer.charts) do
    charts[chart.track] = chart
  end
  for number, track in ipairs(answer.tracks) do
    local chart = charts[track.id]
    add_load(page, answer, number, chart ~= nil, about.kept)
    if chart then
      add_chart(page, answer, number, chart, about.kept)
      for _, note in ipairs(chart.notes or {}) do
        add_note(note, (' '):rep(margin))
      end
    end
  end
  text_page.add(page, '')
  local left, excluded = answer.left, answer.excluded
  for _, note in
    ipairs(vim.list_extend({ left and left.text or '', excluded and excluded.text or '' }, answer.warnings or {}))
  do
    if note ~= '' then
      add_note(note)
    end
  end
  add_note('<CR> flame chart of a thread, closer on a box · + - zoom · < > move · 0 everything · <BS> back')
  add_note('w keeps what is shown, or what is marked with v, everywhere · W lets it go · q closes')
  return page
end

---@class profd.TimelineFound
---@field text string
---@field span? profd.Span of a box or a gap
---@field track? profd.TimelineTrack where it is its name or its load

--- What is at a line and a cell.
---@param page profd.TimelinePage
---@param answer profd.TimelineResult
---@param line integer 1-based
---@param cell integer from 0; before it the names
---@return profd.TimelineFound?
function M.find(page, answer, line, cell)
  local row = page.rows[line]
  local track = row and answer.tracks[row.track]
  if not row then
    return nil
  elseif not row.chart then
    return { text = ('%s: %s, %s'):format(track.name, track.loadText, track.amount.text), track = track }
  end
  local box, gap = row.boxes[cell], row.gaps[cell]
  local function span_of(columns, i)
    local from = answer.from + columns.x[i]
    return { from = from, to = from + math.max(1, columns.width[i]) }
  end
  if box then
    local boxes, name = row.chart.boxes, row.chart.boxes.name[box]
    local open = math.floor(boxes.flags[box] / protocol.TimelineFlag.open) % 2 == 1
    local text = boxes.text[box] .. (open and '; its end is not known' or '')
    return {
      text = name < 0 and text .. '; too narrow to be drawn alone' or answer.names[name + 1] .. ': ' .. text,
      span = span_of(boxes, box),
    }
  elseif gap then
    return { text = row.chart.gaps.text[gap], span = span_of(row.chart.gaps, gap) }
  end
end

return M
