-- Runs PROFD_TEST_FILE inside Neovim: the file calls test(name, body). Waits are on conditions, never on time.
local M = {}
package.loaded['harness'] = M

local WAIT_MS = 20000
local tests = {}
---@type string[] every vim.notify since the last test began
M.notes = {}

M.source = vim.env.PROFD_TEST_SOURCE
M.work = vim.env.PROFD_TEST_WORK
M.profd = vim.fn.exepath('profd')

function test(name, body)
  tests[#tests + 1] = { name = name, body = body }
end

local function fail(message, level)
  error(message, (level or 1) + 1)
end

function M.equal(actual, expected, what)
  if not vim.deep_equal(actual, expected) then
    fail(
      ('%s\n  expected: %s\n  got:      %s'):format(what or 'not equal', vim.inspect(expected), vim.inspect(actual)),
      2
    )
  end
end

function M.truthy(value, what)
  if not value then
    fail((what or 'expected something') .. ', got ' .. vim.inspect(value), 2)
  end
  return value
end

function M.matches(text, pattern, what)
  if type(text) ~= 'string' or not text:find(pattern) then
    fail(('%s\n  expected a match of: %s\n  in: %s'):format(what or 'no match', pattern, vim.inspect(text)), 2)
  end
end

--- Waits until `condition` gives something, and returns it.
function M.eventually(condition, what)
  local value
  vim.wait(WAIT_MS, function()
    value = condition()
    return value ~= nil and value ~= false
  end, 5)
  if not value then
    fail(
      ('%s: did not happen\n  notes: %s\n  log: %s'):format(
        what or 'the condition',
        vim.inspect(M.notes),
        vim.inspect(package.loaded['profd.log'] and require('profd.log').lines())
      ),
      2
    )
  end
  return value
end

--- What the command line completes, once it is what is expected: on a busy machine the first answer may be late.
function M.completed(line, expected)
  M.eventually(
    function()
      return vim.deep_equal(vim.fn.getcompletion(line, 'cmdline'), expected)
    end,
    ('%s completed as %s, not %s'):format(
      line,
      vim.inspect(expected),
      vim.inspect(vim.fn.getcompletion(line, 'cmdline'))
    )
  )
end

--- The note that matches a pattern, once it is there.
function M.note(pattern)
  return M.eventually(function()
    for _, note in ipairs(M.notes) do
      if note:find(pattern) then
        return note
      end
    end
  end, 'a note like ' .. pattern)
end

function M.read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function M.write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

--- A copy of the go-demo fixture, a project of its own.
function M.project(name)
  local root = M.work .. '/' .. name .. '/go-demo'
  vim.fn.mkdir(root .. '/.git', 'p')
  for path in vim.fs.dir(M.source .. '/tests/fixtures/go-demo') do
    M.write(root .. '/' .. path, M.read(M.source .. '/tests/fixtures/go-demo/' .. path))
    -- Older than the recording, as they were.
    vim.uv.fs_utime(root .. '/' .. path, 1600000000, 1600000000)
  end
  return root
end

--- Calls a function that takes a callback, waits, and returns what the callback got.
function M.await(start)
  local answer
  start(function(...)
    answer = vim.F.pack_len(...)
  end)
  M.eventually(function()
    return answer
  end, 'an answer')
  return vim.F.unpack_len(answer)
end

--- The plugin, with a daemon that goes soon after the last client.
function M.setup(opts)
  M.cmd = { 'profd', 'connect', '--idle-timeout', '1' }
  require('profd').setup(vim.tbl_extend('force', { cmd = M.cmd }, opts or {}))
end

--- The hints of a buffer: 1-based line to what is written there. Nil when there is none.
function M.hints(bufnr)
  local namespace = require('profd.hints').namespace
  local result = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr or 0, namespace, 0, -1, { details = true })) do
    local text, groups = '', {}
    for _, chunk in ipairs(mark[4].virt_text) do
      text = text .. chunk[1]
      groups[#groups + 1] = chunk[2]
    end
    if not mark[4].invalid then
      result[mark[2] + 1] = { text = vim.trim(text), full = text, group = groups[#groups] }
    end
  end
  return next(result) and result or nil
end

--- Waits for the hint of a line to match.
function M.hint(line, pattern, bufnr)
  return M.eventually(function()
    local hints = M.hints(bufnr)
    return hints and hints[line] and hints[line].text:find(pattern) and hints[line]
  end, ('a hint like %s on line %d; there are %s'):format(pattern, line, vim.inspect(M.hints(bufnr))))
end

--- Daemons that this test file started: only their command line names this home's socket.
function M.daemons()
  local socket = vim.env.XDG_RUNTIME_DIR .. '/profd/'
  local pids = {}
  for name in vim.fs.dir('/proc') do
    if name:match('^%d+$') then
      local file = io.open('/proc/' .. name .. '/cmdline', 'rb')
      local line = file and file:read('*a') or ''
      if file then
        file:close()
      end
      if line:find(socket, 1, true) and line:find('\0serve\0', 1, true) then
        pids[#pids + 1] = tonumber(name)
      end
    end
  end
  return pids
end

vim.notify = function(text)
  M.notes[#M.notes + 1] = text
end
vim.o.shortmess = vim.o.shortmess .. 'FWIcC'
vim.o.more = false
vim.o.swapfile = false
vim.cmd('runtime! plugin/profd.lua')

local function run()
  local failed = 0
  dofile(vim.env.PROFD_TEST_FILE)
  for _, case in ipairs(tests) do
    M.notes = {}
    local ok, problem = xpcall(case.body, function(message)
      return type(message) == 'string' and message:match('\n') and message or debug.traceback(message, 2)
    end)
    io.stdout:write((ok and 'ok: ' or 'not ok: ') .. case.name .. '\n')
    if not ok then
      failed = failed + 1
      io.stdout:write('  ' .. tostring(problem):gsub('\n', '\n  ') .. '\n')
    end
  end
  if #tests == 0 then
    io.stdout:write('not ok: no tests in ' .. vim.env.PROFD_TEST_FILE .. '\n')
    failed = 1
  end
  io.stdout:flush()
  vim.cmd(failed > 0 and '1cquit' or 'qall!')
end

local ok, problem = xpcall(run, debug.traceback)
if not ok then
  io.stdout:write('not ok: ' .. tostring(problem) .. '\n')
  io.stdout:flush()
  vim.cmd('2cquit')
end
