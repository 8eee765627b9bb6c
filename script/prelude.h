// What is changed of Lua's own library before a script runs.
#pragma once

namespace profd::script {

inline constexpr char kPrelude[] = R"lua(
local type, error, select, rawget, sort, find = type, error, select, rawget, table.sort, string.find
local load0, setmetatable0, getmetatable0, next0, seed0 = load, setmetatable, getmetatable, next, math.randomseed

-- Binary chunks can do anything to the interpreter.
function load(chunk, name, _, ...) return load0(chunk, name, "t", ...) end

function setmetatable(of, with)
  if type(with) == "table" and rawget(with, "__gc") ~= nil then error("a metatable of a script has no __gc", 2) end
  return setmetatable0(of, with)
end

-- Numbers, then texts, each in order, then the rest.
local ranks = {number = 1, string = 2}
local function before(a, b)
  local ra, rb = ranks[type(a)] or 3, ranks[type(b)] or 3
  if ra ~= rb then return ra < rb end
  return ra < 3 and a < b
end
function pairs(of)
  local meta = getmetatable0(of)
  if type(meta) == "table" and meta.__pairs then return meta.__pairs(of) end
  local keys, n = {}, 0
  for key in next0, of do n = n + 1; keys[n] = key end
  sort(keys, before)
  local i = 0
  return function()
    local key, value
    repeat
      i = i + 1
      key = keys[i]
      if key == nil then return nil end
      value = rawget(of, key)
    until value ~= nil
    return key, value
  end, of, nil
end

-- A function of a text: whether one of the patterns is in it. Names of frames come again and again.
function matcher(patterns)
  local known = {}
  return function(text)
    local found = known[text]
    if found == nil then
      found = false
      for i = 1, #patterns do
        if find(text, patterns[i]) then found = true; break end
      end
      known[text] = found
    end
    return found
  end
end

function math.randomseed(a, b) seed0(a or 0, b or 0) end
seed0(0, 0)
)lua";

}  // namespace profd::script
