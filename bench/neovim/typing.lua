-- Types 1,000 characters (200 with pauses) into a file of 10,000 lines, with the hints of a profile on and without the plugin, and tells how
-- long Neovim's main loop was at work for each of them. Run by typing.sh, with a screen attached.

local KEYS = 1000
local KEYS_WITH_PAUSES = 200
local uv = vim.uv

--- Between these two the loop waits; all else is work, in C and in Lua.
local busy_ns, cpu_us, since, cpu_since = 0, 0, nil, 0

local function cpu()
  local usage = uv.getrusage()
  local user, system = usage.utime, usage.stime
  return (user.sec + system.sec) * 1e6 + user.usec + system.usec
end

local before_waiting, after_waiting = uv.new_prepare(), uv.new_check()
before_waiting:start(function()
  if since then
    busy_ns = busy_ns + uv.hrtime() - since
    cpu_us = cpu_us + cpu() - cpu_since
  end
  since = nil
end)
after_waiting:start(function()
  since, cpu_since = uv.hrtime(), cpu()
end)

---@class TypingRound
---@field wall number[] milliseconds of the loop for each key
---@field cpu number[] of the processor

--- Types, one key every `pause` milliseconds; what happens until the next key counts as that of the key.
---@param keys integer
---@param pause integer
---@param done fun(round: TypingRound)
local function type_round(keys, pause, done)
  local wall, processor = {}, {}
  local typed, busy_before, cpu_before = 0, 0, 0
  local timer = uv.new_timer()
  timer:start(pause, pause, function()
    if typed > 0 then
      wall[typed], processor[typed] = (busy_ns - busy_before) / 1e6, (cpu_us - cpu_before) / 1e3
    end
    busy_before, cpu_before = busy_ns, cpu_us
    if typed == keys then
      timer:close()
      return vim.schedule(function()
        done({ wall = wall, cpu = processor })
      end)
    end
    typed = typed + 1
    vim.api.nvim_input(typed % 60 == 0 and '\r' or 'x')
  end)
end

---@param times number[]
---@param part number
local function percentile(times, part)
  local sorted = vim.list_slice(times)
  table.sort(sorted)
  return sorted[math.max(1, math.ceil(part * #sorted))]
end

local lines = {}

---@param what string
---@param round TypingRound
local function tell(what, round)
  lines[#lines + 1] = ('%-24s median %.2f ms, p95 %.2f ms, most %.2f ms; of the processor p95 %.2f ms'):format(
    what,
    percentile(round.wall, 0.5),
    percentile(round.wall, 0.95),
    percentile(round.wall, 1),
    percentile(round.cpu, 0.95)
  )
end

local root = vim.env.PROFD_BENCH_ROOT
local rounds = {} ---@type table<string, TypingRound[]>

--- The same keys in a fresh copy of the text, with or without hints.
---@param with boolean
---@param pause integer
---@param done fun()
local function measure(with, pause, done)
  vim.cmd('stopinsert')
  vim.cmd('silent edit!')
  vim.bo.undolevels = -1
  require('profd').enable(with)
  local function go()
    collectgarbage()
    vim.api.nvim_win_set_cursor(0, { tonumber(vim.env.PROFD_BENCH_LINE or '5000'), 0 })
    vim.api.nvim_input('i')
    type_round(pause == 10 and KEYS or KEYS_WITH_PAUSES, pause, function(round)
      local name = ('%s, a key every %d ms'):format(with and 'with hints' or 'without profd', pause)
      rounds[name] = rounds[name] or {}
      table.insert(rounds[name], round)
      vim.api.nvim_input('<Esc>')
      vim.defer_fn(done, 300)
    end)
  end
  -- Hints are on the screen, or gone, before the first key.
  local client = require('profd.client').get()
  if not with then
    vim.lsp.buf_detach_client(0, client.id)
    return vim.defer_fn(go, 300)
  end
  vim.wait(20000, function()
    return #require('profd').hints() > 0
  end, 20)
  go()
end

---@param all TypingRound[]
---@return TypingRound
local function joined(all)
  local result = { wall = {}, cpu = {} }
  for _, round in ipairs(all) do
    vim.list_extend(result.wall, round.wall)
    vim.list_extend(result.cpu, round.cpu)
  end
  return result
end

local function finish()
  for _, pause in ipairs({ 10, 250 }) do
    local without = rounds[('without profd, a key every %d ms'):format(pause)]
    local with = rounds[('with hints, a key every %d ms'):format(pause)]
    if without and with then
      local a, b = joined(without), joined(with)
      tell(('without profd, %d ms'):format(pause), a)
      tell(('with hints, %d ms'):format(pause), b)
      lines[#lines + 1] = ('added at p95: %.2f ms, of the processor %.2f ms'):format(
        percentile(b.wall, 0.95) - percentile(a.wall, 0.95),
        percentile(b.cpu, 0.95) - percentile(a.cpu, 0.95)
      )
    end
  end
  vim.fn.writefile(lines, vim.env.PROFD_BENCH_OUT)
  vim.cmd('qall!')
end

vim.cmd.edit(root .. '/big.go')
require('profd').setup({ cmd = { 'profd', 'connect', '--idle-timeout', '1' }, threshold = 0 })
require('profd').open(root .. '/big.folded')
vim.wait(20000, function()
  return #require('profd').hints() > 0
end, 20)
lines[1] = ('%d hints in %d lines, %d of them on the screen at a time'):format(
  #require('profd').hints(),
  vim.api.nvim_buf_line_count(0),
  vim.o.lines - 2
)

-- By turns, so that what the machine does meanwhile is in both.
local plan = {}
for _ = 1, tonumber(vim.env.PROFD_BENCH_ROUNDS or '3') do
  vim.list_extend(plan, { { false, 10 }, { true, 10 } })
end
if vim.env.PROFD_BENCH_PAUSES == '1' then
  vim.list_extend(plan, { { false, 250 }, { true, 250 } })
end
local function step()
  local next_round = table.remove(plan, 1)
  if not next_round then
    return finish()
  end
  measure(next_round[1], next_round[2], step)
end
vim.defer_fn(step, 500)
