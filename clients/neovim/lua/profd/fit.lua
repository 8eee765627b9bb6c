--- Texts in columns that are too narrow for them: what is left says the most, and no screen differs from the others.
local M = {}

local DOTS = '…'

--- A text with blanks behind it.
---@param text string
---@param width integer
---@return string
function M.left(text, width)
  return text .. (' '):rep(math.max(width - vim.api.nvim_strwidth(text), 0))
end

--- A text with blanks before it.
---@param text string
---@param width integer
---@return string
function M.right(text, width)
  return (' '):rep(math.max(width - vim.api.nvim_strwidth(text), 0)) .. text
end

---@param text string
---@param from integer characters left out at the beginning
---@param n integer characters kept
---@return string
local function part(text, from, n)
  return vim.fn.strcharpart(text, from, n)
end

--- The beginning of a text, and that it goes on.
---@param text string
---@param width integer
---@return string
function M.beginning(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local n = math.min(vim.fn.strchars(text), math.max(width - 1, 0))
  while n > 0 and vim.api.nvim_strwidth(part(text, 0, n)) + 1 > width do
    n = n - 1
  end
  return vim.trim(part(text, 0, n)) .. DOTS
end

--- The end of a path, which names the file, from a `/` on where it can be.
---@param text string
---@param width integer
---@return string
function M.ending(text, width)
  if vim.api.nvim_strwidth(text) <= width then
    return text
  end
  local from, all = 0, vim.fn.strchars(text)
  while from < all and vim.api.nvim_strwidth(part(text, from, all)) + 1 > width do
    from = from + 1
  end
  local rest = part(text, from, all)
  local slash = rest:find('/', 1, true)
  return DOTS .. (slash and rest:sub(slash) or rest)
end

--- A sentence in lines between words; a word that is wider stays whole.
---@param text string
---@param width integer
---@return string[]
function M.sentence(text, width)
  local lines, line = {}, ''
  for word in text:gmatch('%S+') do
    local longer = line == '' and word or line .. ' ' .. word
    if line ~= '' and vim.api.nvim_strwidth(longer) > width then
      lines[#lines + 1] = line
      longer = word
    end
    line = longer
  end
  lines[#lines + 1] = line
  return lines
end

--- The longest form of a name that fits, by the daemon's rule: `cuts` are the places, in UTF-16 code units, where its
--- beginning may be left out. With less room than the last leaves, the beginning of what that leaves.
---@param name string
---@param cuts integer[]?
---@param width integer
---@return string
function M.name(name, cuts, width)
  local shown = name
  for i = 0, #(cuts or {}) do
    if i > 0 then
      local ok, at = pcall(vim.str_byteindex, name, cuts[i], true)
      shown = ok and name:sub(at + 1) or shown
    end
    if vim.api.nvim_strwidth(shown) <= width then
      return shown
    end
  end
  return M.beginning(shown, width)
end

return M
