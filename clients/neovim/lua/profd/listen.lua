--- What the daemon says unasked: of profiles, of the project, of its work, and to people.
local client = require('profd.client')
local log = require('profd.log')
local protocol = require('profd.protocol')
local session = require('profd.session')

--- Says what got slower or faster since the recording before.
---@param params profd.ProfileChangedParams
local function tell_recorded_again(params)
  client.request(protocol.methods.recorded_again, { profile = params.profile }, function(result, err)
    if params.profile ~= session.profile then
      return
    elseif err or not result then -- what was before is gone: it was short of memory
      return log.info(params.message or (session.name .. ' reloaded'))
    end
    session.recorded_again = result
    log.info(result.text)
  end)
end

---@type table<string, fun(params: profd.ProfileChangedParams)> what a change of the profile that is shown means
local changes = {
  reloaded = function(params)
    session.renewed(params.revision)
    require('profd.hints').refresh_all()
    if params.previous then
      return tell_recorded_again(params)
    end
    -- Names of code come a moment after a recording, and their message would take the place of its own.
    local said = params.message or (session.name .. ' reloaded')
    log.info(session.first_said and session.first_said .. '; ' .. said or said)
    session.first_said = nil
  end,
  reloadFailed = function(params)
    log.warn(params.message or (session.name .. ' changed and cannot be read; the older numbers stay'))
  end,
  closed = function(params)
    local name = session.name
    session.gone(params.uri)
    log.info(params.message and ('%s: %s'):format(name, params.message) or name .. ' was closed')
    session.sync() -- what the daemon means now: the project's, or another one of this editor
  end,
  defaultChanged = function(params)
    require('profd.hints').refresh_all() -- it may have another default metric
    if params.message then
      log.info(params.message)
    end
  end,
}

---@param params profd.ProfileChangedParams
local function changed(params)
  if params.profile == session.profile then
    local change = changes[params.reason]
    if change then
      change(params)
    end
  elseif not session.is_chosen(params.uri) and (params.reason == 'opened' or params.reason == 'defaultChanged') then
    session.sync() -- the project's own profiles, or another client's
  end
end

client.handle(protocol.methods.profile_changed, function(_, params)
  vim.schedule(function()
    changed(params)
  end)
end)

client.handle(protocol.methods.project, function(_, params)
  session.project = params
end)

client.handle(protocol.methods.inlay_hint_refresh, function()
  vim.schedule(function()
    require('profd.hints').refresh_all()
  end)
  return vim.NIL
end)

client.handle('$/progress', function(err, params, ctx)
  local token, value = params.token, params.value
  if type(token) == 'string' and token:match('^profd%-open') and type(value) == 'table' and value.kind == 'report' then
    local text = 'reading ' .. (value.message or '')
    if value.percentage then
      text = ('%s %d %%'):format(text, value.percentage)
    end
    vim.api.nvim_echo({ { log.fit('profd: ' .. log.one_line(text)) } }, false, {})
  end
  local builtin = vim.lsp.handlers['$/progress']
  return builtin and builtin(err, params, ctx, {})
end)

client.handle('window/logMessage', function(_, params)
  log.add(params.message)
end)

client.handle('window/showMessage', function(_, params)
  local say = ({ log.error, log.warn })[params.type] or log.info
  say(params.message)
end)

client.on_lost(function()
  session.lose()
  log.warn('the daemon is gone; the next :Profd command starts it again')
end)
