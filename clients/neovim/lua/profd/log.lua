--- What the plugin says, and what it remembers having said.
local M = {}

local MAX_LINES = 500

---@type string[]
local lines = {}

--- Text of profiles and servers may hold anything; a message is one line without control characters.
---@param text string
---@return string
function M.one_line(text)
  return (tostring(text):gsub('%s*[\r\n]+%s*', ' '):gsub('%c', ' '))
end

---@param text string
function M.add(text)
  lines[#lines + 1] = os.date('%H:%M:%S ') .. M.one_line(text)
  if #lines > MAX_LINES then
    table.remove(lines, 1)
  end
end

---@param text string
---@param level integer
local function say(text, level)
  text = M.one_line(text)
  M.add(text)
  local function notify()
    vim.notify('profd: ' .. text, level, { title = 'profd' })
  end
  if vim.in_fast_event() then
    vim.schedule(notify)
  else
    notify()
  end
end

---@param text string
function M.info(text)
  say(text, vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  say(text, vim.log.levels.WARN)
end

---@param text string
function M.error(text)
  say(text, vim.log.levels.ERROR)
end

---@return string[]
function M.lines()
  return vim.list_slice(lines)
end

--- `:Profd log`
function M.show()
  local content =
    { 'What profd said in this session. Neovim logs the connection itself to:', '  ' .. vim.lsp.get_log_path(), '' }
  vim.list_extend(content, #lines > 0 and lines or { '(nothing yet)' })
  require('profd.scratch').show('profd://log', content, { filetype = 'profdlog' })
end

return M
