--- :checkhealth profd
local M = {}

local WAIT_MS = 5000

---@param start fun(done: fun(...: any))
---@return any ... nothing when it took too long
local function wait_for(start)
  local answer
  start(function(...)
    answer = { ... }
  end)
  vim.wait(WAIT_MS, function()
    return answer ~= nil
  end, 10)
  return unpack(answer or {}, 1, 2)
end

local function check_neovim()
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. version)
  else
    vim.health.error('Neovim ' .. version .. ' is too old', 'profd needs 0.10 or newer')
  end
end

---@return boolean
local function check_binary()
  local cmd = require('profd.config').current.cmd
  if vim.fn.executable(cmd[1]) == 0 then
    vim.health.error(cmd[1] .. ' is not an executable', 'install profd, or set `cmd` in setup (:help profd-install)')
    return false
  end
  local path = vim.fn.exepath(cmd[1])
  local ok, result = pcall(function()
    return vim.system({ cmd[1], '--version' }, { text = true, timeout = WAIT_MS }):wait()
  end)
  if ok and result.code == 0 then
    vim.health.ok(('%s: %s'):format(path, vim.trim(result.stdout)))
  else
    vim.health.warn(path .. ' does not tell its version', 'is it profd? Try `' .. cmd[1] .. ' --version` in a terminal')
  end
  return true
end

---@return vim.lsp.Client?
local function check_daemon()
  local client, problem = wait_for(function(done)
    require('profd.client').ensure(done)
  end)
  if not client then
    vim.health.error('the daemon cannot be reached: ' .. (problem or 'no answer'), {
      'try `' .. table.concat(require('profd.config').current.cmd, ' ') .. '` in a terminal',
    })
    return
  end
  local info = client.server_info or {} -- since 0.11
  vim.health.ok(vim.trim(('the daemon answers %s %s'):format(info.name or '', info.version or '')))
  local native = client.server_capabilities.profd
  local wanted = require('profd.protocol').protocol_version
  if not native then
    vim.health.error('the server has no profd methods', 'is `cmd` the command of profd?')
  elseif native.protocolVersion ~= wanted then
    vim.health.warn(
      ('the daemon speaks version %s of the protocol, the plugin %s'):format(native.protocolVersion, wanted),
      {
        'update the older of the two',
      }
    )
  end
  return client
end

local function check_project()
  local project = require('profd.session').project
  if project and project.uri then
    vim.health.ok(
      ('project file: %s (patterns of profiles: %d)'):format(vim.uri_to_fname(project.uri), project.profiles)
    )
  end
  for _, problem in ipairs(project and project.problems or {}) do
    vim.health.warn(require('profd.log').one_line(problem))
  end
end

---@return boolean
local function check_profile()
  local session = require('profd.session')
  if not session.profile then
    wait_for(function(done)
      session.sync(done)
    end)
  end
  if not session.profile then
    vim.health.warn('no profile is open', ':Profd open FILE opens one')
    return false
  end
  vim.health.ok(('profile: %s (%s), revision %d'):format(session.name, session.profile, session.revision))
  return true
end

--- What the profile does not know about its code.
local function check_missing()
  local session = require('profd.session')
  local summary, err = wait_for(function(done)
    require('profd.client').request('profile/summary', { profile = session.profile }, done)
  end)
  if err or not summary then
    return vim.health.error('no summary of the profile: ' .. (err and session.sentence(err) or 'no answer'))
  end
  for _, part in ipairs(summary.missing or {}) do
    if math.abs(part.amount.share or 0) >= 0.01 then
      vim.health.warn(require('profd.log').one_line(part.text), { require('profd.log').one_line(part.advice) })
    end
  end
end

---@param bufnr integer
local function check_file(bufnr)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ':~:.')
  local session = require('profd.session')
  local result, err = wait_for(function(done)
    require('profd.client').request(
      'source/annotations',
      { profile = session.profile, textDocument = { uri = vim.uri_from_bufnr(bufnr) } },
      done
    )
  end)
  if err then
    vim.health.error(name .. ': ' .. session.sentence(err))
  elseif not result then
    vim.health.error(name .. ': no answer')
  elseif #result.files == 0 then
    vim.health.warn(('%s: the profile has no path that is this file'):format(name), {
      result.evidence and require('profd.log').one_line(result.evidence.text)
        or 'if it should have, say how paths map in .profd.toml ([[map]] from, to; :help profd-mapping)',
    })
  else
    local text = ('%s is %s of the profile'):format(name, table.concat(result.files, ', '))
    vim.health.ok(
      ('%s (by %s), %d lines with a cost'):format(text, result.rule or '?', #result.lines.line + result.left)
    )
    if result.evidence then
      vim.health.warn(require('profd.log').one_line(result.evidence.text))
    end
  end
end

function M.check()
  require('profd.commands').load_all()
  vim.health.start('profd')
  check_neovim()
  if not check_binary() or not check_daemon() then
    return
  end
  check_project()
  if not check_profile() then
    return
  end
  check_missing()
  local bufnr = require('profd.project').current_source() -- :checkhealth stands in a buffer of its own
  if bufnr then
    check_file(bufnr)
  else
    vim.health.info('no source file is on the screen')
  end
end

return M
