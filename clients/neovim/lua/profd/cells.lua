--- Pages that are drawn from characters: lines put together from pieces, their highlights, and how they get into a
--- buffer.
local M = {}

local heat = require('profd.heat')
local log = require('profd.log')
local scratch = require('profd.scratch')

--- Puts a line together from pieces that are as wide as they say, with their highlights.
---@param page profd.TextPage
---@return fun(text: string, group?: string) piece
---@return fun() finish
function M.new_line(page)
  local parts, at, line = {}, 0, #page.lines
  return function(text, group)
    parts[#parts + 1] = text
    if group and text ~= '' then
      page.marks[#page.marks + 1] = { line = line, from = at, to = at + #text, group = group }
    end
    at = at + #text
  end, function()
    page.lines[line + 1] = table.concat(parts)
  end
end

--- The bytes of a text that its first columns take.
---@param text string
---@param columns integer
---@return integer
function M.bytes_of(text, columns)
  local n = 0
  for _, at in ipairs(columns > 0 and vim.str_utf_pos(text) or {}) do
    local char = text:sub(at, at + vim.str_utf_end(text, at))
    columns = columns - vim.api.nvim_strwidth(char)
    if columns < 0 then
      break
    end
    n = at + #char - 1
  end
  return n
end

---@param text string
---@return integer
local function hash_of(text)
  local sum = 5381
  for i = 1, #text do
    sum = (sum * 33 + text:byte(i)) % 2147483648
  end
  return sum
end

--- The highlight of a box: its hue is that of its group, or of its name where it has none; its shade that of its name.
---@param group? string
---@param name string
---@return string
function M.look_of(group, name)
  local hue = hash_of(group or name) % heat.BOX_HUES + 1
  return ('ProfdBox%d%s'):format(hue, math.floor(hash_of(name) / 8) % 2 == 0 and '' or 'Pale')
end

--- The highlight of what changed by `strength`, -1 less to 1 more.
---@param strength number
---@return string
function M.change_look(strength)
  if strength == 0 then
    return 'ProfdBoxSame'
  end
  return (strength < 0 and 'ProfdLess' or 'ProfdHeat') .. heat.level(math.abs(strength))
end

local STEPS = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }

--- Values beside each other, the largest as high as a line; what is nothing is a blank.
---@param values number[]
---@return string
function M.sparkline(values)
  local most = 0
  for _, value in ipairs(values) do
    most = math.max(most, value)
  end
  local parts = {}
  for i, value in ipairs(values) do
    parts[i] = (value <= 0 or most <= 0) and ' ' or STEPS[math.max(1, math.ceil(value / most * #STEPS))]
  end
  return table.concat(parts)
end

---@param bufnr integer
---@return integer columns of text that its window shows
function M.width_of(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  local info = window ~= -1 and vim.fn.getwininfo(window)[1]
  return info and info.width - info.textoff or vim.o.columns
end

--- Writes a page into a buffer; cursors stay at their lines and columns as far as these are there.
---@param bufnr integer
---@param namespace integer
---@param page profd.TextPage
function M.paint(bufnr, namespace, page)
  scratch.rewrite(bufnr, page.lines)
  scratch.mark(bufnr, namespace, page.marks)
end

--- Says something above the window that shows a buffer, where it is seen however far down the cursor is.
---@param bufnr integer
---@param text string
function M.tell(bufnr, text)
  local window = vim.fn.bufwinid(bufnr)
  if window ~= -1 then
    vim.wo[window][0].winbar = ' ' .. log.one_line(text):gsub('%%', '%%%%') .. '%<'
  end
end

return M
