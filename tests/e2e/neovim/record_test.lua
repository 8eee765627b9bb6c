-- `:Profd record`: a command runs under a profiler in a terminal, and what it costs is shown.
local h = require('harness')

local root = h.work .. '/recorded'
vim.o.columns = 200

local function terminal()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if vim.bo[bufnr].buftype == 'terminal' then
      return bufnr, window
    end
  end
end

local function program(rounds)
  h.write(
    root .. '/app.py',
    ([[
import sys
def work(n):
    return sum(i * i for i in range(n))
for _ in range(%d):
    work(20000)
print("said", sys.argv[1:])
]]):format(rounds)
  )
end

test('what a command costs is shown when it has ended, and the cursor stays in the code', function()
  vim.fn.mkdir(root .. '/.git', 'p')
  program(30)
  vim.cmd.cd(root)
  h.setup()
  vim.cmd.edit(root .. '/app.py')
  local code = vim.api.nvim_get_current_win()
  vim.cmd('Profd record --with cProfile -- python3 app.py "two words" $((6*7))')
  h.equal(vim.api.nvim_get_current_win(), code)
  h.matches(require('profd').status(), '^● recording %-%-with cProfile %-%- python3 app%.py')
  h.note('^profd: app%.py · %d+ %a+ [%d:]+: time [%d.]+ m?s$')
  h.hint(3, '%%')
  local bufnr, window = terminal()
  h.matches(table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n'), "said %['two words', '42'%]")
  h.matches(vim.wo[window].winbar, 'ended after %d+ s · r records it again, q closes')
  h.truthy(not require('profd').status():find('recording'), require('profd').status())
end)

test('the same again says what became of it, and the run before is what it can be compared with', function()
  h.notes = {}
  program(60)
  vim.cmd('Profd record!')
  h.note('^profd: took [%d.]+ m?s, [+-]<?[%d.,]+ %% %([%d.]+ m?s before; :Profd changes%); app%.py · %d+ %a+ [%d:]+: time [%d.]+ m?s$')
  local terminals = vim.tbl_filter(function(bufnr)
    return vim.bo[bufnr].buftype == 'terminal'
  end, vim.api.nvim_list_bufs())
  h.equal(#terminals, 1, 'the terminal of the run before is gone')
  local select, shown = vim.ui.select, nil
  vim.ui.select = function(items, opts, done)
    shown = vim.tbl_map(opts.format_item, items)
    done(items[1])
  end
  vim.cmd('Profd diff')
  h.note('→')
  h.eventually(function()
    return require('profd.session').is_diff()
  end, 'the diff')
  vim.ui.select = select
  h.matches(shown[1], ' before it was recorded again$')
end)

test('recordings are chosen from, the newest first', function()
  h.notes = {}
  local select, shown = vim.ui.select, nil
  vim.ui.select = function(items, opts, done)
    shown = vim.tbl_map(opts.format_item, items)
    done(items[2])
  end
  vim.cmd('Profd recordings')
  h.note('^profd: app%.py · %d+ %a+ [%d:]+: time')
  vim.ui.select = select
  h.equal(#shown, 2)
  h.matches(shown[1], "^%d+T%d+Z%-python3[%d-]*  cProfile .* python3 app%.py 'two words' 42$")
  h.truthy(shown[1] > shown[2])
end)

test('what changed since the run before is one command', function()
  local select = vim.ui.select
  vim.ui.select = function(items, _, done)
    done(items[1])
  end
  h.notes = {}
  vim.cmd('Profd recordings')
  h.note('^profd: app%.py · %d+ %a+ [%d:]+: time')
  vim.ui.select = select
  vim.cmd('Profd changes')
  h.eventually(function()
    return require('profd.session').is_diff() and vim.api.nvim_get_current_line():find('[+-][%d.]+ m?s')
  end, 'the functions by change')
  vim.cmd('close')
  vim.cmd('Profd close')
end)

test('what went wrong is a message with its cause', function()
  h.notes = {}
  vim.cmd('Profd record ./no-such-program')
  h.matches(h.note('no%-such%-program'), '^profd: %./no%-such%-program: .*no%-such%-program')
  h.notes = {}
  vim.cmd('Profd record --with nonsense -- true')
  h.note('^profd: %-%-with nonsense %-%- true: .*nonsense')
end)

test('a recording is ended by its key, and what came until then is shown', function()
  h.notes = {}
  h.write(
    root .. '/long.py',
    [[
import time
def wait():
    print("begun", flush=True)
    time.sleep(600)
wait()
]]
  )
  vim.cmd('Profd record --with cProfile -- python3 long.py')
  local bufnr, window = terminal()
  h.eventually(function()
    return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n'):find('\nbegun')
  end, 'the program runs')
  vim.cmd('Profd record true')
  h.note('is recorded just now; <C%-c> in its window ends it$')
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<C-c>', true, false, true), 'mx', false)
  h.matches(h.note('exit code'), '^profd: exit code 130; long%.py · %d+ %a+ [%d:]+: time [%d.]+ m?s$')
end)

test('files that are no recordings are not taken for some', function()
  local recordings = require('profd.recordings')
  local place = h.work .. '/hostile/.profd/recordings'
  local function meta(name, text)
    vim.fn.mkdir(place .. '/' .. name, 'p')
    h.write(('%s/%s/meta.json'):format(place, name), text)
    return recordings.read(place, name)
  end
  h.equal(meta('20260101T000000Z-a', '{'), nil)
  h.equal(meta('20260101T000001Z-a', '{"argv": ["a", 1], "cwd": "/", "tool": "perf"}'), nil)
  h.equal(meta('20260101T000002Z-a', '{"argv": [], "cwd": "/", "tool": "perf"}'), nil)
  local outside = meta('20260101T000003Z-a', '{"argv": ["a"], "cwd": "/", "tool": "perf", "profile": "../x"}')
  h.equal(outside.profile, nil)
  meta('not-a-recording', '{}')
  h.equal(recordings.names(place)[1], '20260101T000003Z-a')
  h.equal(#recordings.names(place), 4)
  h.equal(recordings.names(h.work .. '/nowhere'), {})
end)
