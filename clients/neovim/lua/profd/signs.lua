--- The sign column: in a diff which way a line changed, and on request how hot it is in any profile.
local M = {}

local BARS = { '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█' }

---@class profd.Sign
---@field text string
---@field group string

---@param level integer of heat, 1 to `levels`
---@param levels integer
---@return string
local function bar(level, levels)
  return BARS[math.max(1, math.ceil(level / levels * #BARS))]
end

--- The sign of a line, or none.
---@param signs boolean|'all' as set up
---@param strength? number in a diff how much the line changed, -1 to 1
---@param level integer of heat
---@param levels integer
---@return profd.Sign?
function M.of(signs, strength, level, levels)
  if signs and strength then
    return strength < 0 and { text = '▼', group = 'ProfdLessSign' } or { text = '▲', group = 'ProfdMoreSign' }
  elseif signs == 'all' then
    return { text = bar(level, levels), group = 'ProfdSign' .. level }
  end
end

return M
