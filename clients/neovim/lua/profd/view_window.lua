--- The windows of views: their buffer with its keys, what is said of the place under the cursor, and when they are drawn or
--- asked for anew.
local M = {}

local keys_of = require('profd.keys')
local place = require('profd.place')
local scratch = require('profd.scratch')
local session = require('profd.session')

local RESIZE_DELAY_MS = 60

---@class profd.Shown what a view shows
---@field bufnr integer
---@field page? table what is drawn; absent until the first answer

---@class profd.ViewWindow
---@field name string of the buffer, behind `profd://`
---@field title string of the list of its keys
---@field keys profd.Key[]
---@field shown fun(): profd.Shown?
---@field tell fun() says what is under the cursor
---@field refit fun() the window may have another width now
---@field refresh fun() what is shown may be other numbers now
---@field row_at? fun(): profd.Row? the function under the cursor

---@type table<string, uv.uv_timer_t> by name
local timers = {}

--- Whether it is on the screen.
---@param at profd.Shown?
---@return boolean
function M.is_seen(at)
  return at ~= nil and scratch.is_shown(at.bufnr)
end

--- Puts the cursor into the window of what is on the screen.
---@param at profd.Shown
function M.enter(at)
  vim.api.nvim_set_current_win(vim.fn.bufwinid(at.bufnr))
end

--- The buffer of a view, in a window below the code, with its keys and with nothing in it.
---@param view profd.ViewWindow
---@return integer bufnr
function M.open(view)
  local bufnr = scratch.show('profd://' .. view.name, { '' }, { filetype = 'profd-' .. view.name })
  vim.bo[bufnr].undolevels = -1
  local function is_drawn()
    local at = view.shown()
    return at ~= nil and at.page ~= nil and at.bufnr == bufnr
  end
  keys_of.map(bufnr, view.title, view.keys, is_drawn)
  if view.row_at then
    place.set_row(bufnr, view.row_at)
  end
  local group = vim.api.nvim_create_augroup('profd.' .. view.name, {})
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    buffer = bufnr,
    callback = function()
      if is_drawn() then
        view.tell()
      end
    end,
  })
  -- What happened while it was not to be seen.
  vim.api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = bufnr,
    callback = function()
      view.refresh()
    end,
  })
  vim.api.nvim_create_autocmd({ 'WinResized', 'VimResized' }, {
    group = group,
    callback = function()
      timers[view.name] = timers[view.name] or assert(vim.uv.new_timer())
      timers[view.name]:start(RESIZE_DELAY_MS, 0, vim.schedule_wrap(view.refit))
    end,
  })
  return bufnr
end

--- A window that is as high as its text stays so when the text becomes another one.
---@param bufnr integer
---@param write fun()
local function keep_fitting(bufnr, write)
  local window = vim.fn.bufwinid(bufnr)
  local fits = window ~= -1 and vim.api.nvim_win_get_height(window) == vim.api.nvim_buf_line_count(bufnr)
  write()
  if fits then
    vim.api.nvim_win_set_height(window, math.min(vim.api.nvim_buf_line_count(bufnr), scratch.most_lines()))
  end
end

--- Asks anew for what a view shows, if it is on the screen; an answer to what is not shown any more is dropped.
---@generic T: profd.Shown, A
---@param shown fun(): T?
---@param ask fun(at: T, done: fun(answer: A))
---@param write fun(at: T, answer: A)
function M.renew(shown, ask, write)
  local at = shown()
  if not at or not M.is_seen(at) or not session.profile then
    return
  end
  ask(at, function(answer)
    if shown() == at and vim.api.nvim_buf_is_valid(at.bufnr) then
      keep_fitting(at.bufnr, function()
        write(at, answer)
      end)
    end
  end)
end

return M
