-- Filters hold in every answer: what .profd.toml leaves out is in no hint, no list and no first glance.
local h = require('harness')

local root = h.project('filters')
local FILTER = 'hide function /aeshashbody|^crypto|^runtime/'
h.write(root .. '/.profd.toml', ('profiles = ["cpu.pprof"]\nfilters = ["%s"]\n'):format(FILTER))
h.write(root .. '/orders.py', ('def f():\n    pass\n'):rep(20))

--- What the command line says of the same view: name to self, hottest first.
local function expected(...)
  local command = { h.profd, 'hotspots', '--no-cache', '--granularity', 'function', '-n', '50', '--rows', ... }
  local done = vim.system(vim.list_extend(command, { root .. '/cpu.pprof' }), { cwd = root, stdin = false }):wait()
  h.equal(done.code, 0, done.stderr)
  return vim.tbl_map(vim.json.decode, vim.split(vim.trim(done.stdout), '\n'))
end

local function quickfix()
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'the list')
  local title = vim.fn.getqflist({ title = 0 }).title
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd.cclose()
  return title, lines
end

test('hot spots are of what the filters of the project leave, and say so', function()
  h.setup()
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  h.hint(15, '%%')
  local rows, all = expected('--filter', FILTER), expected()
  h.truthy(rows[1].name ~= all[1].name, 'the filter leaves something out')
  local title, lines = quickfix()
  h.equal(title, 'profd: cpu of cpu.pprof, self | ' .. FILTER)
  h.equal(#lines, #rows)
  for _, line in ipairs(lines) do
    h.truthy(not line:find('runtime%.') and not line:find('sha256%.'), line)
  end
  h.matches(lines[1], vim.pesc(rows[1].name:match('[^/]*$')))
end)

test('the first glance, too', function()
  vim.cmd('Profd summary')
  h.eventually(function()
    return vim.api.nvim_buf_get_name(0):find('profd://summary')
  end, 'the summary')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd.close()
  h.matches(text, 'Hottest, by self cpu | ' .. vim.pesc(FILTER))
  h.matches(text, 'Heaviest paths | ' .. vim.pesc(FILTER))
  local lists = text:sub(text:find('Hottest, by self', 1, true))
  h.truthy(not lists:find('sha256%.block') and not lists:find('runtime%.'), lists)
  h.matches(text, 'cpu +8%.34 s') -- of the whole profile
end)

test('my code only holds in the list as in the hints', function()
  vim.cmd('Profd mine')
  h.note('my code only')
  local title, lines = quickfix()
  h.equal(title, 'profd: cpu of cpu.pprof, self | ' .. FILTER .. ' | mine')
  h.matches(table.concat(lines, '\n'), '%(other code%)')
  vim.cmd('Profd mine')
  h.note('all code')
end)

test('a list in a narrow window keeps the ends of names and of paths', function()
  local columns = vim.o.columns
  h.write(root .. '/.profd.toml', 'profiles = ["cpu.pprof"]\n')
  local deep = root .. '/a/very/deep/folder/of/the/project'
  vim.fn.mkdir(deep, 'p')
  vim.o.columns = 60
  local items = {
    {
      filename = deep .. '/digest.go',
      lnum = 15,
      valid = 1,
      user_data = { cost = '11.3 %  940 ms  ', name = 'crypto/internal/package.(*digest).block', cuts = { 24, 34 } },
    },
    {
      valid = 0,
      user_data = { cost = ' 9.3 %  840 ms  ', name = 'runtime.gcDrain', cuts = { 8 }, where = 'libc.so.6' },
    },
  }
  vim.fn.setqflist({}, ' ', { items = items, quickfixtextfunc = require('profd.hotspots').text })
  vim.cmd.copen()
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd.cclose()
  vim.o.columns = columns
  for _, line in ipairs(lines) do
    h.truthy(vim.api.nvim_strwidth(line) < 60, line)
  end
  h.matches(lines[1], '^….*/digest%.go|15| 11%.3 %%  940 ms  %(%*digest%)%.block$')
  h.matches(lines[2], '^libc%.so%.6|| +9%.3 %%  840 ms  runtime%.gcDrain$')
end)

test('a list fits its own window, with line numbers and when that becomes narrower', function()
  local number, columns = vim.o.number, vim.o.columns
  vim.o.number = true
  vim.o.columns = 70
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'the list')
  local function all_fit()
    local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
    for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      if vim.api.nvim_strwidth(line) >= info.width - info.textoff then
        return false
      end
    end
    return true
  end
  h.truthy(all_fit(), 'at first')
  vim.cmd('3')
  vim.o.columns = 50
  vim.api.nvim_exec_autocmds('VimResized', {})
  h.truthy(all_fit(), 'the narrower window')
  h.equal(vim.api.nvim_win_get_cursor(0)[1], 3, 'nobody is taken anywhere')
  vim.cmd.cclose()
  vim.o.number, vim.o.columns = number, columns
end)

test('a profile that knows no line of a function, or no lines, has places to jump to all the same', function()
  -- As py-spy writes it: lines that ran, no line that a function begins on.
  h.write(root .. '/spy.folded', 'f (orders.py:2) 1\nf (orders.py:8) 30\nf (orders.py:9);g (orders.py:12) 4\n')
  vim.cmd('Profd open ' .. root .. '/spy.folded')
  h.note('spy%.folded: samples 35')
  local _, lines = quickfix()
  h.matches(lines[1], 'orders%.py|8| .* 31  f$')
  h.matches(lines[2], 'orders%.py|12| .* 4  g$')
  vim.cmd('Profd close')
  h.note('spy%.folded closed$')
end)
