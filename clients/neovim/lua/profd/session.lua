--- Which profile and which metric the hints speak of.
local M = {}

local client = require('profd.client')
local events = require('profd.events')
local log = require('profd.log')
local protocol = require('profd.protocol')

---@type string? handle of the profile that is shown
M.profile = nil
---@type integer
M.revision = 0
---@type string
M.name = ''
---@type string?
M.uri = nil
---@type string? the metric of the last hints
M.metric = nil
---@type profd.RecordedAgainResult? what became of the profile that is shown, since its file was recorded again
M.recorded_again = nil
---@type string? what was said of a new recording, to be said again with what comes right after it
M.first_said = nil
---@type profd.ProjectParams? what the project file says, as the daemon told last
M.project = nil

---@type string[] what the user opened, oldest first, to open again when the daemon died
local opened = {}
---@type table<string, boolean> URIs being opened: the server's word that they are open is no news
local opening = {}
---@type fun()[] what waits until nothing is being opened
local after_opening = {}
local next_token = 0

--- The metric that an answer is of.
---@param name string
function M.saw_metric(name)
  if name ~= M.metric then
    M.metric = name
    events.changed('metric')
  end
end

---@param uri string
local function forget(uri)
  opened = vim.tbl_filter(function(other)
    return other ~= uri
  end, opened)
end

---@param profile string?
---@param revision? integer
---@param name? string
---@param uri? string
local function show(profile, revision, name, uri)
  if uri ~= M.uri then
    M.metric = nil
  end
  if profile ~= M.profile then
    M.recorded_again, M.first_said = nil, nil
    require('profd.kept').let_window_go() -- it is of another time
  end
  local news = profile ~= M.profile or (revision or 0) ~= M.revision
  M.profile, M.revision, M.name, M.uri = profile, revision or 0, name or '', uri
  if news then
    events.changed('profile')
  end
  require('profd.hints').refresh_all()
end

--- One sentence a person can act on.
---@param err lsp.ResponseError
---@return string
function M.sentence(err)
  return err.message ~= nil and err.message ~= '' and err.message or ('error %s'):format(tostring(err.code))
end

--- Takes the profile that the daemon means where none is named.
---@param done? fun()
function M.sync(done)
  client.request(protocol.methods.profile_list, vim.empty_dict(), function(result)
    local chosen
    for _, entry in ipairs(result and result.profiles or {}) do
      if entry.default and entry.attached then
        chosen = entry
      end
    end
    if chosen then
      local news = chosen.profile ~= M.profile
      show(chosen.profile, chosen.revision, chosen.name, chosen.uri)
      if news then
        log.info(chosen.name .. ' is shown')
      end
    else
      show(nil)
    end
    if done then
      done()
    end
  end)
end

--- Brings the connection up, for a project that lists its profiles.
function M.start()
  client.ensure(function(_, problem)
    if problem then
      return log.error(problem)
    end
    M.sync()
  end)
end

--- What a diff is called before the daemon has called it.
local DIFF = 'diff:'

---@return boolean
function M.is_diff()
  return vim.startswith(M.uri or '', DIFF)
end

---@param method string
---@param params profd.ProfileOpenParams|profd.ProfileDiffParams
---@param done fun(result: profd.ProfileOpenResult?, err: lsp.ResponseError?)
local function request_profile(method, params, done)
  local expected = params.uri or DIFF
  local function finish(result, err)
    opening[expected] = nil
    done(result, err)
    if next(opening) == nil then
      local actions = after_opening
      after_opening = {}
      for _, action in ipairs(actions) do
        action()
      end
    end
  end
  next_token = next_token + 1
  params.workDoneToken = 'profd-open-' .. next_token
  opening[expected] = true
  local sent = client.request(method, params, function(result, err)
    if result then
      local uri = params.uri or result.summary.uri
      forget(uri)
      opened[#opened + 1] = uri
      show(result.profile, result.revision, result.summary.name, uri)
    end
    finish(result, err)
  end)
  if not sent then
    finish(nil, { code = 0, message = 'the connection to the daemon was lost; try again' })
  end
end

---@param uri string
---@param options profd.OpenOptions?
---@param done fun(result: profd.ProfileOpenResult?, err: lsp.ResponseError?)
local function request_open(uri, options, done)
  request_profile(protocol.methods.profile_open, { uri = uri, options = options }, done)
end

--- Opens again what was open before the daemon died, one after another, then calls back.
---@param uris string[]
---@param metrics table<string, string> by URI
---@param done fun()
local function reopen(uris, metrics, done)
  if #uris == 0 then
    return done()
  end
  local uri = table.remove(uris, 1)
  request_open(uri, metrics[uri] and { metric = metrics[uri] } or nil, function(_, err)
    if err then
      log.warn(M.sentence(err))
    end
    reopen(uris, metrics, done)
  end)
end

local lost = false

--- Calls back when the connection is up and knows what was open before.
---@param action fun()
function M.with_server(action)
  client.ensure(function(_, problem)
    if problem then
      return log.error(problem)
    end
    if lost then
      lost = false
      return reopen(vim.list_slice(opened), { [M.uri or ''] = M.metric }, action)
    end
    action()
  end)
end

--- Calls back when a profile is shown.
---@param action fun()
function M.with_profile(action)
  M.with_server(function()
    local function go()
      if M.profile then
        action()
      else
        log.warn('no profile is open; :Profd open FILE opens one')
      end
    end
    if next(opening) ~= nil then
      after_opening[#after_opening + 1] = go
    elseif M.profile then
      go()
    else
      -- What names no profile is answered when those of the project are read; a list is of what is there by now.
      client.request(protocol.methods.metric_list, vim.empty_dict(), function()
        M.sync(go)
      end)
    end
  end)
end

--- A profile in a line: its name, its total, what could not be read.
---@param summary profd.ProfileSummary
---@return string
function M.glance(summary)
  local metrics = {}
  for _, metric in ipairs(summary.metrics) do
    if metric.name == summary.metric then
      metrics[1] = (metric.title or metric.name) .. ' ' .. metric.text
    end
  end
  if summary.records.value > 0 then
    metrics[#metrics + 1] = summary.records.text .. (summary.records.value == 1 and ' record' or ' records')
  end
  local losses = 0
  for _, row in ipairs(summary.report) do
    losses = losses + (row.severity ~= 'info' and 1 or 0)
  end
  if losses > 0 then
    metrics[#metrics + 1] = 'not everything could be read (:Profd summary)'
  end
  return ('%s: %s'):format(summary.name, table.concat(metrics, ', '))
end

--- The daemon closed it, or its file is gone.
---@param uri string
function M.gone(uri)
  forget(uri)
  show(nil)
end

--- Its file was read again.
---@param revision integer
function M.renewed(revision)
  M.revision = revision
  events.changed('profile')
end

--- Whether what is shown is the user's choice: what they opened here stays, whatever other editors open.
---@param uri string of what another editor opened
---@return boolean
function M.is_chosen(uri)
  return opening[uri] or opening[DIFF] or #opened > 0
end

--- The connection is gone; what was open is opened again with the next one.
function M.lose()
  lost = true
  opening, after_opening = {}, {}
  M.profile = nil
  events.changed('profile')
end

---@param path string a file, or a URI
---@return string
function M.uri_of(path)
  if path:match('^%a[%w+.-]+://') then
    return path
  end
  -- A name that is there is meant as it is, also with the characters that expand() reads.
  local name = vim.uv.fs_stat(path) and path or vim.fn.expand(path)
  return vim.uri_from_fname(vim.fs.normalize(vim.fn.fnamemodify(name, ':p')))
end

---@param path string a file, or a URI
---@param done? fun(result: profd.ProfileOpenResult) in place of the message that says what was opened
function M.open(path, done)
  local uri = M.uri_of(path)
  M.with_server(function()
    request_open(uri, nil, function(result, err)
      if err then
        return log.error(M.sentence(err))
      end
      ---@cast result profd.ProfileOpenResult
      require('profd.hints').set_enabled(true)
      if done then
        return done(result)
      end
      log.info(M.glance(result.summary))
    end)
  end)
end

--- Opens what became of a profile, as a profile.
---@param before profd.ComposedPart
---@param after profd.ComposedPart
---@param done fun(summary: profd.ProfileSummary)
function M.open_diff(before, after, done)
  M.with_server(function()
    request_profile(protocol.methods.profile_diff, { before = { before }, after = { after } }, function(result, err)
      if err then
        return log.error(M.sentence(err))
      end
      ---@cast result profd.ProfileOpenResult
      require('profd.hints').set_enabled(true)
      done(result.summary)
    end)
  end)
end

--- Shows a profile that another request opened.
---@param result profd.ProfileOpenResult
function M.adopt(result)
  local uri = result.summary.uri
  forget(uri)
  opened[#opened + 1] = uri
  show(result.profile, result.revision, result.summary.name, uri)
  require('profd.hints').set_enabled(true)
end

function M.close()
  M.with_profile(function()
    local name, uri = M.name, M.uri
    client.request(protocol.methods.profile_close, { profile = M.profile }, function(_, err)
      if err then
        return log.error(M.sentence(err))
      end
      forget(uri or '')
      show(nil)
      log.info(('%s closed'):format(name))
      if #opened > 0 then
        request_open(opened[#opened], nil, function() end) -- the one before, which is open still
      end
    end)
  end)
end

--- Opening what is open reads it again when its file changed.
function M.reload()
  M.with_profile(function()
    local before = M.revision
    request_open(M.uri, nil, function(result, err)
      if err then
        return log.error(M.sentence(err))
      end
      ---@cast result profd.ProfileOpenResult
      if result.revision == before then
        log.info(('%s is up to date'):format(result.summary.name))
      end
      require('profd.hints').refresh_all()
    end)
  end)
end

return M
