--- What of the profile is kept, here beside the filters of its own: a window of time, a kind of work, my code.
local M = {}

local client = require('profd.client')
local events = require('profd.events')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

---@class profd.KeptWindow
---@field from number nanoseconds
---@field to number
---@field clause string as a filter says it
---@type profd.KeptWindow? what of time the hints and all else are of; absent: all
M.window = nil
---@type string? the kind of work that they are of; absent: all
M.kind = nil

--- Tells the daemon what is kept now.
local function send()
  client.notify(protocol.methods.did_change_configuration, { settings = client.settings() })
  events.changed('filters')
end

---@param said string
local function send_and_show(said)
  send()
  require('profd.hints').refresh_all()
  log.info(said)
end

--- Hints, hovers and lists are of this window of time, or of all again.
---@param window profd.KeptWindow?
function M.keep_window(window)
  if not window and not M.window then
    return log.info('no window of time is kept')
  end
  M.window = window
  client.filters.window = window and window.clause or nil
  send_and_show(window and 'kept everywhere: ' .. window.clause or 'all of the time')
end

--- Another profile is shown, which has times of its own.
function M.let_window_go()
  if M.window then
    M.window, client.filters.window = nil, nil
    send()
  end
end

--- Hints, hovers and lists are of one kind of work, or of all again.
---@param name string as filters have it; the one that is kept already: all
function M.keep_kind(name)
  M.kind = name ~= M.kind and name or nil
  client.filters.kind = M.kind and 'keep kind ' .. M.kind or nil
  send_and_show(M.kind and 'kept everywhere: ' .. client.filters.kind or 'all kinds of work')
end

--- My code only, or all of it again.
function M.toggle_mine()
  session.with_profile(function()
    client.mine = not client.mine
    send_and_show(client.mine and 'my code only: other code is folded' or 'all code')
  end)
end

return M
