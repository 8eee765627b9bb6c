--- What hints say and where they stand: how they are coloured, which column they start in, what of them fits the window.
local M = {}

local config = require('profd.config')
local heat = require('profd.heat')
local signs = require('profd.signs')

local GAP = 2

---@class profd.Hint
---@field line integer 0-based
---@field text string
---@field group string
---@field number_group? string
---@field sign? profd.Sign

--- How a line is coloured: what its hint, its number and its sign have.
---@param lines profd.AnnotationColumns
---@param i integer
---@param opts profd.Config
---@return {group: string, number_group?: string, sign?: profd.Sign}
local function look_of(lines, i, opts)
  local strength = lines.strength and lines.strength[i]
  -- The lines of a diff are of two texts, and often not certain: their texts say so, and colour says which way.
  if lines.stale[i] and not strength then
    return { group = 'ProfdStale' }
  end
  if strength == 0 then
    return { group = 'ProfdQuiet' }
  end
  local less = strength and strength < 0
  local level = heat.level(strength and math.abs(strength) or lines.heat[i])
  return {
    group = opts.heat and (less and 'ProfdLess' or 'ProfdHeat') .. level or 'ProfdHint',
    number_group = opts.number_heat and (less and 'ProfdNumberLess' or 'ProfdNumber') .. level or nil,
    sign = signs.of(opts.signs, strength, level, heat.LEVELS),
  }
end

--- The hints of an answer, their shares flush right below each other.
---@param lines profd.AnnotationColumns
---@param opts profd.Config
---@return profd.Hint[]
function M.compose(lines, opts)
  local hints, widest = {}, 0
  local function share_width(text)
    local stop = text:find('%%', 1)
    return stop and vim.api.nvim_strwidth(text:sub(1, stop)) or 0
  end
  for i, text in ipairs(lines.text) do
    local hint = look_of(lines, i, opts) --[[@as profd.Hint]]
    hint.line, hint.text = lines.line[i], text:gsub('%c', ' ')
    hints[i] = hint
    widest = math.max(widest, share_width(hints[i].text))
  end
  for _, hint in ipairs(hints) do
    local width = share_width(hint.text)
    local padding = width > 0 and (' '):rep(widest - width) or ''
    hint.text = ' ' .. padding .. hint.text .. ' '
  end
  return hints
end

--- The same hints on other lines.
---@param hints profd.Hint[]
---@param lines integer[] 0-based
---@return profd.Hint[]
function M.moved(hints, lines)
  local moved = {}
  for i, hint in ipairs(hints) do
    moved[i] = hint.line == lines[i] and hint or vim.tbl_extend('force', hint, { line = lines[i] })
  end
  return moved
end

--- How wide the lines of hints are.
---@param bufnr integer
---@param hints profd.Hint[]
---@return integer[]
function M.measure(bufnr, hints)
  local widths = {}
  vim.api.nvim_buf_call(bufnr, function()
    for i, hint in ipairs(hints) do
      local text = vim.api.nvim_buf_get_lines(bufnr, hint.line, hint.line + 1, false)[1] or ''
      widths[i] = #text > 1000 and 1000 or vim.fn.strdisplaywidth(text)
    end
  end)
  return widths
end

--- The column where the hints of a file start: right of the longest line that has one, within reason.
---@param widths integer[]
---@return integer
function M.column(widths)
  local column = 0
  for _, width in ipairs(widths) do
    if width <= config.current.align_max then
      column = math.max(column, width)
    end
  end
  return column
end

--- What of a hint fits: all of it, then up to its value, then the share alone.
---@param text string
---@param room integer
---@return string text
---@return boolean fits
function M.shorten(text, room)
  local share = text:match('^.-%%') or text
  local text_of = { text, (text:gsub(' · .*$', ' ')), share .. ' ' }
  for _, form in ipairs(text_of) do
    if vim.api.nvim_strwidth(form) <= room then
      return form, true
    end
  end
  return text_of[#text_of], false
end

--- The room for text in the narrowest window of this tab page that shows the buffer.
---@param bufnr integer
---@return integer columns
---@return boolean wrap
function M.narrowest(bufnr)
  local columns, wrap = math.huge, false
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == bufnr then
      local info = vim.fn.getwininfo(window)[1]
      if info and info.width - info.textoff < columns then
        columns, wrap = info.width - info.textoff, vim.wo[window].wrap
      end
    end
  end
  return columns, wrap
end

---@class profd.HintPlace
---@field width integer of the line's text
---@field column integer where hints start when there is room
---@field columns integer of the window
---@field wrap boolean

--- Chunks and position of a hint. One that would leave the window comes nearer to its line, then says less; beside a
--- line that fills the window, the share alone stands at the edge, over the line's end.
---@param hint profd.Hint
---@param place profd.HintPlace
---@param opts profd.Config
---@return {[1]: string, [2]: string?}[] chunks
---@return string position
function M.place(hint, place, opts)
  local used = place.width
  if place.wrap and place.columns < math.huge and used > place.columns then
    used = (used - 1) % place.columns + 1
  end
  local free = place.columns - used
  if opts.position ~= 'eol' then
    return { { (M.shorten(hint.text, free)), hint.group } }, opts.position
  end
  -- Neovim itself leaves one column after the text.
  local least = GAP - 1
  free = free - 1
  local text, fits = M.shorten(hint.text, free - least)
  if not fits then
    return { { text, hint.group } }, 'right_align'
  end
  local gap = opts.align and math.max(place.column - place.width, 0) + least or least
  gap = math.max(math.min(gap, free - vim.api.nvim_strwidth(text)), least)
  return { { (' '):rep(gap) }, { text, hint.group } }, 'eol'
end

return M
