-- Runs profd.check over the generated test data: luajit codec_test.lua ROOT FOLDER. What a file's name says must hold.
-- Works in any Lua from 5.1 on; brings its own JSON reader, which tells {} from [].

local root, folder = arg[1], arg[2]
package.path = root .. '/clients/neovim/lua/?.lua;' .. package.path
local check = require('profd.check')
local protocol = require('profd.protocol')

local escapes = { b = '\b', f = '\f', n = '\n', r = '\r', t = '\t', ['"'] = '"', ['\\'] = '\\', ['/'] = '/' }
local is_array = { __jsontype = 'array' }
local is_object = { __jsontype = 'object' }
local read

local function utf8_of(code)
  if code < 0x80 then
    return string.char(code)
  elseif code < 0x800 then
    return string.char(0xC0 + math.floor(code / 0x40), 0x80 + code % 0x40)
  end
  return string.char(0xE0 + math.floor(code / 0x1000), 0x80 + math.floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

local function skip(text, at)
  return text:find('[^ \t\r\n]', at) or #text + 1
end

local function read_string(text, at)
  local parts = {}
  at = at + 1
  while true do
    local stop = text:find('["\\]', at)
    parts[#parts + 1] = text:sub(at, stop - 1)
    if text:sub(stop, stop) == '"' then
      return table.concat(parts), stop + 1
    end
    local escape = text:sub(stop + 1, stop + 1)
    if escape == 'u' then
      parts[#parts + 1] = utf8_of(tonumber(text:sub(stop + 2, stop + 5), 16))
      at = stop + 6
    else
      parts[#parts + 1] = escapes[escape]
      at = stop + 2
    end
  end
end

local function read_members(text, at, close, meta, read_member)
  local container = setmetatable({}, meta)
  at = skip(text, at + 1)
  while text:sub(at, at) ~= close do
    at = skip(text, read_member(container, at))
    if text:sub(at, at) == ',' then
      at = skip(text, at + 1)
    end
  end
  return container, at + 1
end

function read(text, at)
  at = skip(text, at)
  local first = text:sub(at, at)
  if first == '"' then
    return read_string(text, at)
  elseif first == '[' then
    return read_members(text, at, ']', is_array, function(array, from)
      local value, after = read(text, from)
      rawset(array, #array + 1, value)
      return after
    end)
  elseif first == '{' then
    return read_members(text, at, '}', is_object, function(object, from)
      local key, colon = read_string(text, from)
      local value, after = read(text, skip(text, colon) + 1)
      rawset(object, key, value)
      return after
    end)
  end
  local word = text:match('^[%w%.%+%-]+', at)
  local words = { ['true'] = true, ['false'] = false, null = check.null }
  local value = words[word]
  if value == nil then
    value = assert(tonumber(word), 'bad JSON at ' .. at)
  end
  return value, at + #word
end

local checked, wrong = 0, 0
local list = assert(io.popen('ls "' .. folder .. '"'))
for file in list:lines() do
  local name, verdict = file:match('^(%w+)%-(%a+)%-%d+%.json$')
  if name then
    local handle = assert(io.open(folder .. '/' .. file, 'rb'))
    local value = read(handle:read('*a'), 1)
    handle:close()
    local fault = check.check(protocol.schema, name, value)
    checked = checked + 1
    if (fault == nil) ~= (verdict == 'valid') then
      wrong = wrong + 1
      io.stderr:write(file, ': ', fault or 'taken, though it is invalid', '\n')
    end
  end
end
list:close()
assert(protocol.methods.flame_graph == 'view/flameGraph')
print(checked .. ' files checked, ' .. wrong .. ' wrong')
os.exit(checked > 1000 and wrong == 0 and 0 or 1)
