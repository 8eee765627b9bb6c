--- Settings, checked when they are set.
local M = {}

---@class profd.Opts
---@field cmd? string[] What starts the connection to the daemon.
---@field threshold? number Share of the profile, 0 to 1, below which a line stays silent. nil: what .profd.toml says, or 0.005.
---@field heat? boolean Colour the hints by cost.
---@field number_heat? boolean Colour the line numbers too.
---@field signs? boolean|'all' In a diff, arrows in the sign column beside lines that changed; 'all': in other profiles bars, too.
---@field align? boolean Hints of a file start in one column.
---@field align_max? integer The column is never further right than this.
---@field position? 'eol'|'right_align' Where hints stand.
---@field autostart? boolean Start by itself where there is a .profd.toml.
---@field hover? boolean Answer K (vim.lsp.buf.hover).
---@field picker? 'snacks'|'fzf-lua'|'telescope'|'select' What `:Profd pick` asks with; nil: the first that is there.
---@field colors? profd.Colors
---@field keymaps? table<string, string|false> Subcommand to key, for example `{ hover = '<leader>ph' }`.

---@class profd.Colors
---@field heat? string The one hue of heat, `#rrggbb`; in a diff of what costs more.
---@field less? string In a diff the hue of what costs less.

---@class profd.Config: profd.Opts
---@field cmd string[]
---@field heat boolean
---@field number_heat boolean
---@field signs boolean|'all'
---@field align boolean
---@field align_max integer
---@field position 'eol'|'right_align'
---@field autostart boolean
---@field hover boolean
---@field colors profd.Colors
---@field keymaps table<string, string|false>

---@type profd.Config
M.defaults = {
  cmd = { 'profd', 'connect' },
  threshold = nil,
  heat = true,
  number_heat = false,
  signs = true,
  align = true,
  align_max = 78,
  position = 'eol',
  autostart = true,
  hover = true,
  picker = nil,
  colors = { heat = '#f0643c', less = '#3b8eea' },
  keymaps = {},
}

local function is_boolean(value)
  return type(value) == 'boolean', 'true or false'
end

---@type table<string, fun(value: any): boolean, string>
local checks = {
  cmd = function(value)
    local ok = type(value) == 'table' and #value > 0
    for _, part in ipairs(ok and value or {}) do
      ok = ok and type(part) == 'string' and part ~= ''
    end
    return ok, 'a list of strings, for example { "profd", "connect" }'
  end,
  threshold = function(value)
    return type(value) == 'number' and value >= 0 and value <= 1, 'a share from 0 to 1'
  end,
  heat = is_boolean,
  number_heat = is_boolean,
  signs = function(value)
    return type(value) == 'boolean' or value == 'all', "true, false or 'all'"
  end,
  align = is_boolean,
  align_max = function(value)
    return type(value) == 'number' and value >= 0 and value % 1 == 0, 'a number of columns'
  end,
  position = function(value)
    return value == 'eol' or value == 'right_align', "'eol' or 'right_align'"
  end,
  autostart = is_boolean,
  hover = is_boolean,
  picker = function(value)
    local names = { 'snacks', 'fzf-lua', 'telescope', 'select' }
    return vim.list_contains(names, value), "one of 'snacks', 'fzf-lua', 'telescope', 'select'"
  end,
  colors = function(value)
    local ok = type(value) == 'table'
    for key, color in pairs(ok and value or {}) do
      ok = ok and (key == 'heat' or key == 'less') and type(color) == 'string' and color:match('^#%x%x%x%x%x%x$') ~= nil
    end
    return ok, "{ heat = '#rrggbb', less = '#rrggbb' }"
  end,
  keymaps = function(value)
    local ok = type(value) == 'table'
    for key, lhs in pairs(ok and value or {}) do
      ok = ok and type(key) == 'string' and (type(lhs) == 'string' or lhs == false)
    end
    return ok, "a table such as { hover = '<leader>ph' }"
  end,
}

---@type profd.Config
M.current = vim.deepcopy(M.defaults)

--- Takes the options that are right; those that are not keep their default.
---@param opts? table
---@return string? problem the first one, as a sentence
function M.set(opts)
  local problem
  local taken = {}
  if opts ~= nil and type(opts) ~= 'table' then
    problem, opts = 'expected a table, got ' .. type(opts), {}
  end
  local keys = vim.tbl_keys(opts or {})
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, key in ipairs(keys) do
    local check = checks[key]
    if not check then
      problem = problem or ('no such option: ' .. tostring(key))
    else
      local ok, expected = check(opts[key])
      if ok then
        taken[key] = vim.deepcopy(opts[key])
      else
        problem = problem or (key .. ': expected ' .. expected)
      end
    end
  end
  local colors = vim.tbl_extend('force', M.defaults.colors, taken.colors or {})
  M.current = vim.tbl_extend('force', vim.deepcopy(M.defaults), taken)
  M.current.colors = colors
  return problem
end

--- Maps the keys the user asked for; none by default.
function M.map_keys()
  for subcommand, lhs in pairs(M.current.keymaps) do
    if lhs then
      vim.keymap.set('n', lhs, '<Cmd>Profd ' .. subcommand .. '<CR>', { desc = 'profd ' .. subcommand })
    end
  end
end

return M
