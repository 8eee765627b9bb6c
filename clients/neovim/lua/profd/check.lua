--- Is a value what psp.json says? Table-driven; the tables are protocol.schema. For tests and debugging: the plugin
--- trusts its server otherwise.

local M = {}

---@class profd.CheckField
---@field type any a type code, see protocol/gen/compact.h
---@field required? boolean
---@field minimum? number
---@field maximum? number
---@field maxItems? integer
---@field maxLength? integer

--- What stands for JSON's null in decoded values: vim.NIL inside Neovim.
M.null = vim and vim.NIL or setmetatable({}, {
  __tostring = function()
    return 'null'
  end,
})

local MAX_INTEGER = 2147483647
local MAX_SAFE_INTEGER = 9007199254740991

--- An empty table may be either; a decoder that knows says so with a metatable field `__jsontype`.
local function json_kind(value)
  if value == M.null then
    return 'null'
  end
  local kind = type(value)
  if kind ~= 'table' then
    return kind
  end
  local meta = getmetatable(value)
  if meta and meta.__jsontype then
    return meta.__jsontype
  end
  if next(value) == nil then
    if vim and vim.empty_dict and meta == getmetatable(vim.empty_dict()) then
      return 'object'
    end
    return 'empty'
  end
  return #value > 0 and 'array' or 'object'
end

local function is_array(value)
  local kind = json_kind(value)
  return kind == 'array' or kind == 'empty'
end

local function is_object(value)
  local kind = json_kind(value)
  return kind == 'object' or kind == 'empty'
end

local function integer_within(value, low, high)
  return type(value) == 'number' and value == math.floor(value) and value >= low and value <= high
end

local function fault_unless(ok, path, expected)
  if not ok then
    return path .. ': expected ' .. expected
  end
end

local base = {
  s = function(value, path)
    return fault_unless(type(value) == 'string', path, 'string')
  end,
  b = function(value, path)
    return fault_unless(type(value) == 'boolean', path, 'boolean')
  end,
  n = function(value, path)
    return fault_unless(type(value) == 'number', path, 'number')
  end,
  i = function(value, path)
    return fault_unless(integer_within(value, -MAX_INTEGER - 1, MAX_INTEGER), path, 'integer')
  end,
  u = function(value, path)
    return fault_unless(integer_within(value, 0, MAX_INTEGER), path, 'integer')
  end,
  l = function(value, path)
    return fault_unless(integer_within(value, -MAX_SAFE_INTEGER, MAX_SAFE_INTEGER), path, 'integer')
  end,
  ['0'] = function(value, path)
    return fault_unless(value == M.null, path, 'null')
  end,
  ['*'] = function() end,
}

local check_type

local compound = {
  S = function(schema, code, value, path)
    return M.check(schema, code[2], value, path)
  end,
  a = function(schema, code, value, path)
    if not is_array(value) then
      return path .. ': expected array'
    end
    for i, item in ipairs(value) do
      local fault = check_type(schema, code[2], item, path .. '[' .. (i - 1) .. ']')
      if fault then
        return fault
      end
    end
  end,
  m = function(schema, code, value, path)
    if not is_object(value) then
      return path .. ': expected object'
    end
    for key, item in pairs(value) do
      local fault = check_type(schema, code[2], item, path .. '.' .. tostring(key))
      if fault then
        return fault
      end
    end
  end,
  o = function(schema, code, value, path)
    local fault
    for i = 2, #code do
      fault = check_type(schema, code[i], value, path)
      if not fault then
        return nil
      end
    end
    return fault
  end,
  ['='] = function(_, code, value, path)
    return fault_unless(value == code[2], path, '"' .. code[2] .. '"')
  end,
}

function check_type(schema, code, value, path)
  if type(code) == 'string' then
    return base[code](value, path)
  end
  return compound[code[1]](schema, code, value, path)
end

local function check_limits(field, value, path)
  if type(value) == 'number' then
    if field.minimum and value < field.minimum then
      return path .. ': must be at least ' .. field.minimum
    end
    if field.maximum and value > field.maximum then
      return path .. ': must be at most ' .. field.maximum
    end
  elseif type(value) == 'string' then
    if field.maxLength and #value > field.maxLength then
      return path .. ': must be at most ' .. field.maxLength .. ' bytes long'
    end
  elseif type(value) == 'table' and field.maxItems and #value > field.maxItems then
    return path .. ': must have at most ' .. field.maxItems .. ' items'
  end
end

--- nil when `value` is a valid structure of that name, else the place and the reason.
---@param schema table<string, table<string, profd.CheckField>>
---@param name string
---@param value any
---@param path? string
---@return string?
function M.check(schema, name, value, path)
  path = path or name
  local fields = schema[name]
  if not fields then
    return path .. ': no such type: ' .. name
  end
  if not is_object(value) then
    return path .. ': expected object'
  end
  for key, field in pairs(fields) do
    local place = path .. '.' .. key
    local item = value[key]
    if item == nil or (item == M.null and not field.required) then
      if field.required then
        return place .. ': missing'
      end
    else
      local fault = check_type(schema, field.type, item, place) or check_limits(field, item, place)
      if fault then
        return fault
      end
    end
  end
end

return M
