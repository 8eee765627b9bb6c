--- What `profd record` left in `.profd/recordings` of the project, and choosing one of them. The files may be anybody's: what
--- is not as it should be is as if it were not there.
local M = {}

local log = require('profd.log')

local MOST_META_BYTES = 1024 * 1024
local NAME = '^%d%d%d%d%d%d%d%dT%d%d%d%d%d%dZ%-[%w._-]+$'

---@class profd.Recording
---@field name string of its folder; by name they are in the order of time
---@field argv string[]
---@field cwd string
---@field tool string
---@field profile? string path of the profile; absent: none was written
---@field exit_code integer of the program
---@field samples? integer

--- Where recordings of a folder are: in the project around it, else in itself.
---@param folder string
---@return string
function M.place(folder)
  local found = vim.fs.find({ '.profd.toml', '.git' }, { path = folder, upward = true })[1]
  return (found and vim.fs.dirname(found) or folder) .. '/.profd/recordings'
end

--- The folders of recordings, the newest first.
---@param place string
---@return string[]
function M.names(place)
  local names = {}
  for name, kind in vim.fs.dir(place) do
    if kind == 'directory' and name:match(NAME) then
      names[#names + 1] = name
    end
  end
  table.sort(names, function(a, b)
    return a > b
  end)
  return names
end

---@param path string
---@return table?
local function read_json(path)
  local stat = vim.uv.fs_lstat(path)
  if not stat or stat.type ~= 'file' or stat.size > MOST_META_BYTES then
    return
  end
  local file = io.open(path, 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  local ok, value = pcall(vim.json.decode, text, { luanil = { object = true, array = true } })
  return ok and type(value) == 'table' and value or nil
end

---@param value any
---@return boolean
local function is_argv(value)
  if type(value) ~= 'table' or #value == 0 then
    return false
  end
  for _, word in ipairs(value) do
    if type(word) ~= 'string' then
      return false
    end
  end
  return true
end

---@param place string
---@param name string
---@return profd.Recording?
function M.read(place, name)
  local meta = read_json(('%s/%s/meta.json'):format(place, name))
  if not meta or not is_argv(meta.argv) or type(meta.cwd) ~= 'string' or type(meta.tool) ~= 'string' then
    return
  end
  -- A file of the folder, and no other.
  local profile = type(meta.profile) == 'string' and meta.profile or ''
  local is_inside = profile ~= '' and profile ~= '..' and not profile:find('/', 1, true)
  return {
    name = name,
    argv = meta.argv,
    cwd = meta.cwd,
    tool = meta.tool,
    profile = is_inside and ('%s/%s/%s'):format(place, name, profile) or nil,
    exit_code = type(meta.exitCode) == 'number' and meta.exitCode or 0,
    samples = type(meta.samples) == 'number' and meta.samples or nil,
  }
end

--- The recording before this one of the same command, in the same folder, by the same tool.
---@param place string
---@param recording profd.Recording
---@return profd.Recording?
function M.before(place, recording)
  for _, name in ipairs(M.names(place)) do
    local other = name < recording.name and M.read(place, name) or nil
    if
      other
      and other.profile
      and other.cwd == recording.cwd
      and other.tool == recording.tool
      and vim.deep_equal(other.argv, recording.argv)
    then
      return other
    end
  end
end

--- `:Profd recordings`: one of those that there are, as `profd record --list` has them, to open.
function M.pick()
  local folder = vim.fn.getcwd()
  local cmd = require('profd.config').current.cmd[1]
  local ok = pcall(vim.system, { cmd, 'record', '--list' }, { cwd = folder, text = true }, function(result)
    vim.schedule(function()
      if result.code ~= 0 then
        return log.error((vim.trim(result.stderr):gsub('^profd: ', '')))
      end
      local place = M.place(folder)
      local rows = {} ---@type {text: string, name: string}[]
      for line in result.stdout:gmatch('[^\n]+') do
        local name = line:match('^%S+')
        if name and name:match(NAME) then
          rows[#rows + 1] = { text = line, name = name }
        end
      end
      if #rows == 0 then
        return log.info('there is no recording here; :Profd record COMMAND makes one')
      end
      vim.ui.select(rows, {
        prompt = 'Recording:',
        kind = 'profd.recording',
        format_item = function(row)
          return row.text
        end,
      }, function(row)
        local recording = row and M.read(place, row.name)
        if recording and recording.profile then
          require('profd.session').open(recording.profile)
        elseif row then
          log.warn(('%s has no profile; its program ran without one being written'):format(row.name))
        end
      end)
    end)
  end)
  if not ok then
    log.error(('%s cannot be run; :checkhealth profd says more'):format(cmd))
  end
end

return M
