-- Filters hold in every answer: what .profd.toml leaves out is in no hint, no list and no first glance.
local h = require('harness')

local root = h.project('filters')
local FILTER = 'hide function /aeshashbody|^crypto|^runtime/'
h.write(root .. '/.profd.toml', ('profiles = ["cpu.pprof"]\nfilters = ["%s"]\n'):format(FILTER))

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
