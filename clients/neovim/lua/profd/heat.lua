--- Heat as colour: one hue over the background, the stronger the hotter, readable on dark and light.
local M = {}

M.LEVELS = 10
M.BOX_HUES = 8

---@class profd.Rgb
---@field [1] number red, 0 to 255
---@field [2] number green
---@field [3] number blue

---@param color integer|string 0xrrggbb or '#rrggbb'
---@return profd.Rgb
function M.rgb(color)
  local number = type(color) == 'string' and tonumber(color:sub(2), 16) or color --[[@as integer]]
  return { math.floor(number / 65536) % 256, math.floor(number / 256) % 256, number % 256 }
end

---@param rgb profd.Rgb
---@return string
function M.hex(rgb)
  return ('#%02x%02x%02x'):format(math.floor(rgb[1] + 0.5), math.floor(rgb[2] + 0.5), math.floor(rgb[3] + 0.5))
end

---@param base profd.Rgb
---@param over profd.Rgb
---@param opacity number 0: base; 1: over
---@return profd.Rgb
function M.blend(base, over, opacity)
  local result = {}
  for i = 1, 3 do
    result[i] = base[i] + (over[i] - base[i]) * opacity
  end
  return result
end

--- Relative luminance, 0 to 1, as WCAG defines it.
---@param rgb profd.Rgb
---@return number
function M.luminance(rgb)
  local linear = {}
  for i = 1, 3 do
    local part = rgb[i] / 255
    linear[i] = part <= 0.03928 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4
  end
  return 0.2126 * linear[1] + 0.7152 * linear[2] + 0.0722 * linear[3]
end

--- Contrast ratio, 1 to 21.
---@param a profd.Rgb
---@param b profd.Rgb
---@return number
function M.contrast(a, b)
  local high, low = M.luminance(a), M.luminance(b)
  if high < low then
    high, low = low, high
  end
  return (high + 0.05) / (low + 0.05)
end

--- `color`, moved towards black or white until it can be read on `background`.
---@param color profd.Rgb
---@param background profd.Rgb
---@param ratio number
---@return profd.Rgb
function M.readable(color, background, ratio)
  local white, black = { 255, 255, 255 }, { 0, 0, 0 }
  local goal = M.contrast(white, background) > M.contrast(black, background) and white or black
  for step = 0, 10 do
    local moved = M.blend(color, goal, step / 10)
    if M.contrast(moved, background) >= ratio then
      return moved
    end
  end
  return goal
end

--- The nearest colour of the 256-colour cube, for terminals without true colour.
---@param rgb profd.Rgb
---@return integer
function M.cterm(rgb)
  local index, distance = 16, math.huge
  local function try(candidate, number)
    local away = 0
    for i = 1, 3 do
      away = away + (candidate[i] - rgb[i]) ^ 2
    end
    if away < distance then
      index, distance = number, away
    end
  end
  local steps = { 0, 95, 135, 175, 215, 255 }
  for number = 0, 215 do
    try({
      steps[math.floor(number / 36) + 1],
      steps[math.floor(number / 6) % 6 + 1],
      steps[number % 6 + 1],
    }, 16 + number)
  end
  for grey = 0, 23 do
    try({ 8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey }, 232 + grey)
  end
  return index
end

---@class profd.HeatColors
---@field fg profd.Rgb
---@field bg profd.Rgb

--- The colours of a level. `heat` is a square root of a share already: opacity is linear in it.
---@param heat number 0 to 1
---@param hue profd.Rgb
---@param normal profd.HeatColors of the text and the background
---@return profd.HeatColors
function M.colors(heat, hue, normal)
  local bg = M.blend(normal.bg, hue, 0.05 + 0.50 * heat)
  local fg = M.blend(M.blend(normal.fg, normal.bg, 0.35), normal.fg, heat)
  return { fg = M.readable(fg, bg, 4.5), bg = bg }
end

--- The level of a heat, 1 to LEVELS.
---@param heat number
---@return integer
function M.level(heat)
  return math.max(1, math.min(M.LEVELS, math.ceil(heat * M.LEVELS)))
end

--- A colour of the circle.
---@param degrees number
---@return profd.Rgb
function M.hue(degrees)
  local rgb = {}
  for i, shift in ipairs({ 0, 120, 240 }) do
    local away = math.abs((degrees - shift + 180) % 360 - 180)
    rgb[i] = 255 * math.max(0, math.min(1, 2 - away / 60))
  end
  return rgb
end

--- A colour of the circle that is neither glaring nor dull beside the others: blue is lightened, yellow darkened.
---@param degrees number
---@return profd.Rgb
local function even_hue(degrees)
  local rgb = M.blend(M.hue(degrees), { 128, 128, 128 }, 0.2)
  local goal = M.luminance(rgb) < 0.3 and { 255, 255, 255 } or { 0, 0, 0 }
  for step = 0, 20 do
    local moved = M.blend(rgb, goal, step / 20)
    local luminance = M.luminance(moved)
    if luminance >= 0.28 and luminance <= 0.45 then
      return moved
    end
  end
  return rgb
end

---@return profd.HeatColors
local function normal_colors()
  local group = vim.api.nvim_get_hl(0, { name = 'Normal', link = false })
  local dark = vim.o.background == 'dark'
  return {
    fg = M.rgb(group.fg or (dark and 0xe0e2ea or 0x14161b)),
    bg = M.rgb(group.bg or (dark and 0x14161b or 0xe0e2ea)),
  }
end

---@type table<string, {[1]: string|false, [2]: string|false}> groups of two halves, by their own names
local halves = {}

--- The colour of the background of a group; that of the text around it where it has none.
---@param name? string
---@return profd.Rgb
local function background_of(name)
  local group = name and vim.api.nvim_get_hl(0, { name = name, link = false }) or {}
  return group.bg and M.rgb(group.bg) or normal_colors().bg
end

---@param name string
---@param left? string
---@param right? string
local function define_halves(name, left, right)
  local one, other = background_of(left), background_of(right)
  vim.api.nvim_set_hl(0, name, { fg = M.hex(one), ctermfg = M.cterm(one), bg = M.hex(other), ctermbg = M.cterm(other) })
end

--- The group of a cell whose left half is of one group and whose right half of another, for blocks of which the
--- foreground is the left part. Without a name: what is behind all boxes.
---@param left? string
---@param right? string
---@return string
function M.halves(left, right)
  local name = ('ProfdHalves_%s_%s'):format(left or '', right or '')
  if not halves[name] then
    halves[name] = { left or false, right or false }
    define_halves(name, left, right)
  end
  return name
end

---@type table<string, vim.api.keyset.get_hl_info> the groups that were defined here, as the editor has them
local own = {}

--- Whether a colour scheme or the user has defined a group: theirs stays.
---@param name string
---@return boolean
local function is_foreign(name)
  local group = vim.api.nvim_get_hl(0, { name = name })
  group.cleared = nil
  return next(group) ~= nil and not vim.deep_equal(group, own[name])
end

--- Defines the highlight groups for the colour scheme that is on.
function M.apply()
  local colors_of = require('profd.config').current.colors
  local hue, less = M.rgb(colors_of.heat), M.rgb(colors_of.less)
  local normal = normal_colors()
  local function define(name, fg, bg, attributes)
    if is_foreign(name) then
      return
    end
    local group = vim.tbl_extend('force', { fg = M.hex(fg), ctermfg = M.cterm(fg) }, attributes or {})
    if bg then
      group.bg, group.ctermbg = M.hex(bg), M.cterm(bg)
    end
    vim.api.nvim_set_hl(0, name, group)
    own[name] = vim.api.nvim_get_hl(0, { name = name })
  end
  for level = 1, M.LEVELS do
    local colors = M.colors(level / M.LEVELS, hue, normal)
    define('ProfdHeat' .. level, colors.fg, colors.bg)
    define('ProfdSign' .. level, M.readable(M.blend(normal.bg, hue, 0.3 + 0.7 * level / M.LEVELS), normal.bg, 1.6))
    define('ProfdNumber' .. level, M.readable(M.blend(normal.fg, hue, level / M.LEVELS), normal.bg, 4.5))
    colors = M.colors(level / M.LEVELS, less, normal)
    define('ProfdLess' .. level, colors.fg, colors.bg)
    define('ProfdNumberLess' .. level, M.readable(M.blend(normal.fg, less, level / M.LEVELS), normal.bg, 4.5))
  end
  for hue = 1, M.BOX_HUES do
    for suffix, opacity in pairs({ [''] = 0.55, Pale = 0.4 }) do
      local bg = M.blend(normal.bg, even_hue((hue - 1) * 360 / M.BOX_HUES + 20), opacity)
      define(('ProfdBox%d%s'):format(hue, suffix), M.readable(normal.fg, bg, 4.5), bg)
    end
  end
  local plain = M.blend(normal.bg, normal.fg, 0.16)
  define('ProfdBoxSame', M.readable(normal.fg, plain, 4.5), plain)
  define('ProfdBoxFaded', M.readable(M.blend(normal.fg, plain, 0.35), plain, 4.5), plain)
  local found = M.blend(normal.bg, M.hue(295), vim.o.background == 'dark' and 0.62 or 0.5)
  define('ProfdBoxFound', M.readable(normal.fg, found, 4.5), found)
  local joined = M.blend(normal.bg, normal.fg, 0.1)
  define('ProfdBoxJoined', M.readable(M.blend(normal.fg, joined, 0.5), joined, 3), joined)
  define('ProfdBoxJoinedFound', M.readable(M.hue(295), joined, 3), joined)
  vim.api.nvim_set_hl(0, 'ProfdChosen', { bold = true, underline = true, cterm = { bold = true, underline = true } })
  define('ProfdLoad', M.readable(less, normal.bg, 3))
  define('ProfdMoreSign', M.readable(hue, normal.bg, 3))
  define('ProfdLessSign', M.readable(less, normal.bg, 3))
  local faint = M.readable(M.blend(normal.fg, normal.bg, 0.55), normal.bg, 3)
  define('ProfdStale', faint, nil, { italic = true, cterm = { italic = true } })
  define('ProfdQuiet', faint)
  define('ProfdHint', M.readable(M.blend(normal.fg, normal.bg, 0.4), normal.bg, 4.5))
  define('ProfdNote', M.readable(less, normal.bg, 4.5), nil, { italic = true, cterm = { italic = true } })
  define('ProfdBar', M.blend(normal.bg, hue, 0.85))
  vim.api.nvim_set_hl(0, 'ProfdLink', { link = 'Underlined', default = true })
  vim.api.nvim_set_hl(0, 'ProfdTitle', { link = 'Title', default = true })
  for name, of in pairs(halves) do
    define_halves(name, of[1] or nil, of[2] or nil)
  end
end

return M
