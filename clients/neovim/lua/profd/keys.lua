--- Keys of buffers: mapped, and listed by `?`.
local M = {}

---@class profd.Key
---@field [1] string
---@field [2] fun(with: any)
---@field [3] string what it does; empty: another way to type the one before, not listed
---@field with? any
---@field mode? string

---@param keys profd.Key[]
---@return string[]
function M.lines(keys)
  local lines, width = {}, 0
  keys = vim.list_extend({ unpack(keys) }, { { 'q', nil, 'close' } })
  for _, key in ipairs(keys) do
    width = math.max(width, vim.api.nvim_strwidth(key[1]))
  end
  for _, key in ipairs(keys) do
    if key[3] ~= '' then
      lines[#lines + 1] = (' %s%s  %s '):format(key[1], (' '):rep(width - vim.api.nvim_strwidth(key[1])), key[3])
    end
  end
  return lines
end

--- A window above the others; any of `q`, `?`, Escape and leaving it closes it.
---@param title string
---@param lines string[]
local function open_help(title, lines)
  local width = vim.api.nvim_strwidth(title) + 2
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  local height = math.max(1, math.min(#lines, vim.o.lines - 4))
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    width = math.min(width, vim.o.columns - 4),
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. title .. ' ',
  })
  local function close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
  end
  for _, key in ipairs({ 'q', '?', '<Esc>' }) do
    vim.keymap.set('n', key, close, { buffer = bufnr, nowait = true })
  end
  vim.api.nvim_create_autocmd('WinLeave', { buffer = bufnr, once = true, callback = vim.schedule_wrap(close) })
end

--- Maps keys of a buffer; `?` lists them.
---@param bufnr integer
---@param title string
---@param keys profd.Key[]
---@param ready? fun(): boolean whether there is something they can act on; absent: always
function M.map(bufnr, title, keys, ready)
  for _, key in ipairs(keys) do
    vim.keymap.set(key.mode or 'n', key[1], function()
      if not ready or ready() then
        key[2](key.with)
      end
    end, { buffer = bufnr, nowait = true, desc = key[3] ~= '' and key[3] or nil })
  end
  vim.keymap.set('n', '?', function()
    open_help(title, M.lines(keys))
  end, { buffer = bufnr, nowait = true, desc = 'keys' })
end

return M
