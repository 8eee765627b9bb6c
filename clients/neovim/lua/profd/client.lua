--- The connection: one LSP client for all buffers, started when first needed.
local M = {}

local log = require('profd.log')

local START_TIMEOUT_MS = 15000
local MAX_SYNCED_BYTES = 8 * 1024 * 1024

---@alias profd.Ready fun(client: vim.lsp.Client?, problem: string?)
---@alias profd.Answer fun(result: any, err: lsp.ResponseError?)

---@type integer?
local client_id
local ready = false
local generation = 0 -- of connections: what is heard of an earlier one is no news
---@type profd.Ready[]
local waiting = {}
---@type fun(code: integer, signal: integer)[]
local exit_listeners = {}
---@type table<string, lsp.Handler>
local handlers = {}

local new_api = vim.fn.has('nvim-0.11') == 1

--- Answers a method of the server's. To be called before the connection starts.
---@param method string
---@param handler lsp.Handler
function M.handle(method, handler)
  handlers[method] = handler
end

--- Told when a connection that was up is gone although nobody stopped it.
---@param listener fun(code: integer, signal: integer)
function M.on_lost(listener)
  exit_listeners[#exit_listeners + 1] = listener
end

---@param client vim.lsp.Client?
---@param problem string?
local function settle(client, problem)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(client, problem)
  end
end

---@return lsp.ClientCapabilities
local function capabilities()
  local result = vim.lsp.protocol.make_client_capabilities()
  result.general = result.general or {}
  result.general.positionEncodings = { 'utf-8', 'utf-16' }
  ---@diagnostic disable-next-line: inject-field
  result.profd = { protocolVersion = require('profd.protocol').protocol_version, profileChanged = true, project = true }
  return result
end

--- My code only: frames of other code are folded, in hints, hovers and lists alike.
M.mine = false

---@type table<string, string> further filters of hints, hovers and lists, each under the name of what set it
M.filters = {}

---@type table<string, string[]> filters that hold for one profile, by its URI
M.profile_filters = {}

--- What the server is told at once: the same settings that workspace/didChangeConfiguration carries.
---@return table
function M.settings()
  local config = require('profd.config').current
  local filters = M.mine and { 'mine' } or {}
  for _, name in ipairs(vim.fn.sort(vim.tbl_keys(M.filters))) do
    filters[#filters + 1] = M.filters[name]
  end
  return {
    threshold = config.threshold,
    inlayHints = true,
    filters = #filters > 0 and filters or nil,
    profileFilters = next(M.profile_filters) and M.profile_filters or nil,
  }
end

---@param of integer
---@param code integer
---@param signal integer
local function exited(of, code, signal)
  if of ~= generation then
    return
  end
  local was_ready = ready
  client_id, ready = nil, false
  local cmd = table.concat(require('profd.config').current.cmd, ' ')
  log.add(('%s ended (exit code %d, signal %d)'):format(cmd, code, signal))
  if was_ready then
    for _, listener in ipairs(exit_listeners) do
      listener(code, signal)
    end
    settle(nil, 'the connection to the daemon was lost; try again')
  else
    settle(nil, ('`%s` ended at once (exit code %d); :Profd log says where to look'):format(cmd, code))
  end
end

---@param root string
---@return vim.lsp.ClientConfig
local function client_config(root)
  local config = require('profd.config').current
  generation = generation + 1
  local mine_is = generation
  return {
    name = 'profd',
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fs.basename(root) } },
    capabilities = capabilities(),
    init_options = M.settings(),
    handlers = handlers,
    -- Neovim's own message about an exit code names no remedy; ours does, so it sees a quiet end.
    cmd = function(dispatchers)
      local mine = vim.tbl_extend('force', {}, dispatchers)
      mine.on_exit = function(code, signal)
        dispatchers.on_exit(0, 0)
        vim.schedule(function()
          exited(mine_is, code, signal)
        end)
      end
      return vim.lsp.rpc.start(config.cmd, mine, { cwd = root })
    end,
    on_init = function(client)
      -- The plugin paints hints itself; Neovim's own would stand beside them.
      client.server_capabilities.inlayHintProvider = nil
      if not config.hover then
        client.server_capabilities.hoverProvider = nil
      end
      ready = true
      vim.schedule(function()
        if ready then
          settle(client)
        end
      end)
    end,
  }
end

---@param config vim.lsp.ClientConfig
---@return integer?
local function start(config)
  if new_api then
    return vim.lsp.start(config, { attach = false, silent = true })
  end
  return (vim.lsp.start_client(config)) -- before 0.11, vim.lsp.start attaches the current buffer, whatever it is
end

--- The client, when the connection is up.
---@return vim.lsp.Client?
function M.get()
  return ready and client_id and vim.lsp.get_client_by_id(client_id) or nil
end

--- Calls back with the client, after starting it if need be, or with what is wrong. Never both, always once.
---@param callback profd.Ready
function M.ensure(callback)
  local client = M.get()
  if client then
    return callback(client)
  end
  waiting[#waiting + 1] = callback
  if client_id then
    return
  end
  local cmd = require('profd.config').current.cmd
  if vim.fn.executable(cmd[1]) == 0 then
    return settle(nil, ('%s is not an executable; install profd or set `cmd` (:help profd-install)'):format(cmd[1]))
  end
  local ok, id = pcall(start, client_config(require('profd.project').root()))
  if not ok or not id then
    return settle(nil, ('cannot start `%s`; try it in a terminal'):format(table.concat(cmd, ' ')))
  end
  client_id = id
  vim.defer_fn(function()
    if client_id == id and not ready then
      M.stop()
      settle(nil, ('no answer from `%s` after %d s; try it in a terminal'):format(cmd[1], START_TIMEOUT_MS / 1000))
    end
  end, START_TIMEOUT_MS)
end

--- A request on the open connection; false when there is none.
---@param method string
---@param params table
---@param answer profd.Answer
---@param bufnr? integer its pending edits are sent first
---@return boolean sent
function M.request(method, params, answer, bufnr)
  local client = M.get()
  if not client then
    return false
  end
  local function handler(err, result)
    if result == vim.NIL then
      result = nil
    end
    if err then
      log.add(('%s: %s'):format(method, err.message or vim.inspect(err)))
    end
    answer(result, err)
  end
  if new_api then
    return (client:request(method, params, handler, bufnr))
  end
  return (client.request(method, params, handler, bufnr))
end

---@param method string
---@param params table
function M.notify(method, params)
  local client = M.get()
  if not client then
    return
  end
  if new_api then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

--- Lets the server see the text of a buffer.
---@param bufnr integer
---@return boolean
function M.attach(bufnr)
  local client = M.get()
  if not client or not require('profd.project').is_source(bufnr) then
    return false
  end
  if vim.lsp.buf_is_attached(bufnr, client.id) then
    return true
  end
  local size = vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr))
  if size > MAX_SYNCED_BYTES then
    return false
  end
  return vim.lsp.buf_attach_client(bufnr, client.id)
end

--- Ends the connection; the daemon goes on for others.
function M.stop()
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  generation = generation + 1
  client_id, ready = nil, false
  if client then
    if new_api then
      client:stop()
    else
      client.stop()
    end
  end
end

return M
