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

local GROUPS = { [vim.log.levels.WARN] = 'WarningMsg', [vim.log.levels.ERROR] = 'ErrorMsg' }

--- As much of a message as Neovim shows without asking for a key. The right of the last line belongs to 'showcmd' and
--- 'ruler'; with 'cmdheight' 0 one line is there all the same.
---@param text string
---@return string
function M.fit(text)
  local room = vim.o.columns * math.max(vim.o.cmdheight, 1) - 13
  if vim.api.nvim_strwidth(text) <= room then
    return text
  end
  local tail = '… (:Profd log)'
  local cut = vim.fn.strcharpart(text, 0, math.max(room - vim.api.nvim_strwidth(tail), 10))
  while vim.api.nvim_strwidth(cut .. tail) > room and cut ~= '' do
    cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - 1)
  end
  return cut .. tail
end

-- Two messages drawn after each other fill two lines, and Neovim then waits for a key: each one takes the place of the
-- one before it. What was said stays in :messages and :Profd log.
---@param text string
---@param level integer
local function echo(text, level)
  vim.cmd('redraw')
  vim.api.nvim_echo({ { M.fit(text), GROUPS[level] } }, true, {})
end

--- Neovim's own vim.notify, which asks for a key when a message is long or follows another.
---@return boolean
local function is_builtin()
  local source = debug.getinfo(vim.notify, 'S').source
  return source:find('^=?%?$') ~= nil or source:find('vim/_[%w_/]*%.lua$') ~= nil -- newer ones do not say which file they are of
end

---@param text string
---@param level integer
local function say(text, level)
  text = M.one_line(text)
  M.add(text)
  local function notify()
    text = 'profd: ' .. text
    -- A plugin that shows messages its own way gets the whole text.
    if not is_builtin() then
      return vim.notify(text, level, { title = 'profd' })
    end
    echo(text, level)
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
