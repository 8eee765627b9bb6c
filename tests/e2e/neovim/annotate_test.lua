-- A function as instructions, beside its source.
local h = require('harness')

local fixtures = h.source .. '/tests/fixtures/symbols'
local root = h.work .. '/symbols'

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function shown()
  h.eventually(function()
    return vim.bo.filetype == 'profd-annotate'
  end, 'the instructions')
  return lines()
end

--- The number of the first line that matches.
local function line_with(pattern)
  for number, line in ipairs(lines()) do
    if line:find(pattern) then
      return number
    end
  end
  error('no line like ' .. pattern .. ' in\n' .. table.concat(lines(), '\n'))
end

--- Lines of a buffer that are marked as those of the other side.
local function marked(bufnr)
  local namespace = vim.api.nvim_get_namespaces()['profd.annotate.other']
  return vim.tbl_map(function(mark)
    return mark[2] + 1
  end, vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, {}))
end

local function prepare()
  vim.fn.mkdir(root .. '/.git', 'p')
  for _, name in ipairs({ 'app', 'app.c', 'addresses.pprof' }) do
    h.write(root .. '/' .. name, h.read(fixtures .. '/' .. name))
    vim.uv.fs_utime(root .. '/' .. name, 1600000000, 1600000000)
  end
  vim.cmd.cd(root)
end

test('the function of a line is shown as instructions, the hottest first in sight', function()
  prepare()
  h.setup()
  vim.cmd.edit('app.c')
  vim.cmd('Profd open addresses.pprof')
  h.eventually(function()
    return require('profd.session').profile
  end, 'the profile')
  vim.api.nvim_win_set_cursor(0, { vim.fn.search('out\\[i\\] = s'), 0 })
  -- Names come from the binary a moment after the profile.
  h.eventually(function()
    if vim.bo.filetype ~= 'profd-annotate' then
      vim.cmd('Profd annotate')
      vim.wait(300, function()
        return vim.bo.filetype == 'profd-annotate'
      end, 5)
    end
    return vim.bo.filetype == 'profd-annotate'
  end, 'the instructions')
  local all = shown()
  h.matches(all[1], '^fill  .* of addresses%.pprof self .*app%+0x%x+, %d+ bytes$')
  h.matches(table.concat(all, '\n'), 'mix app%.c:%d+ > round2 app%.c:%d+ > app%.c:%d+  %S')
  local row = vim.api.nvim_get_current_line()
  h.matches(row, '^ *60%.0 %% +60%.0 %%  %+%d+ +%l+')
end)

test('the line of a row is marked in the source, and the rows of a line in the code', function()
  local code = vim.api.nvim_get_current_buf()
  local source = vim.fn.bufnr('app.c')
  local here = marked(source)
  h.equal(#here, 1)
  local text = vim.api.nvim_buf_get_lines(source, here[1] - 1, here[1], false)[1]
  h.matches(table.concat(lines(), '\n'), vim.pesc(vim.trim(text)))
  vim.cmd.wincmd('p')
  h.equal(vim.api.nvim_get_current_buf(), source)
  vim.api.nvim_win_set_cursor(0, { vim.fn.search('out\\[i\\] = s'), 0 })
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = source })
  h.truthy(#marked(code) > 0, 'the store is marked')
  vim.cmd.wincmd('p')
end)

test('rows follow the filters of the project, and the window stays at its row', function()
  vim.api.nvim_win_set_cursor(0, { line_with('^ *60%.0 %%'), 0 })
  local row = vim.api.nvim_get_current_line()
  local line, offset = vim.api.nvim_win_get_cursor(0)[1], row:match('%+%d+ ')
  local window = vim.api.nvim_get_current_win()
  h.write(root .. '/.profd.toml', 'filters = ["keep function fill"]\n')
  h.eventually(function()
    return lines()[1]:find('self 100 %%')
  end, 'all of what is left')
  h.matches(table.concat(lines(), '\n'), '\nfilters: keep function fill\n')
  h.equal(vim.api.nvim_get_current_win(), window)
  h.matches(vim.api.nvim_get_current_line(), '^ *66%.7 %% +66%.7 %%  ' .. vim.pesc(offset))
  h.equal(vim.api.nvim_win_get_cursor(0)[1], line + 1, 'the line of the filters came above it')
  h.equal(#marked(vim.fn.bufnr('app.c')), 1)
  vim.uv.fs_unlink(root .. '/.profd.toml')
  h.eventually(function()
    return vim.api.nvim_get_current_line() == row
  end, 'the row as it was')
end)

test('what was open stays when the profile is closed, and says so, until it is there again', function()
  vim.cmd('Profd close')
  h.eventually(function()
    return lines()[2] == 'of before: no profile is open'
  end, 'why the rows stay')
  vim.cmd('Profd open ' .. root .. '/addresses.pprof')
  h.eventually(function()
    return not table.concat(lines(), '\n'):find('of before')
  end, 'the rows anew')
  h.matches(vim.api.nvim_get_current_line(), '^ *60%.0 %% +60%.0 %%  %+%d+ +%l+')
end)

test('keys go to the source, along a jump, and close', function()
  vim.api.nvim_win_set_cursor(0, { line_with('%+%d+ +j%l+ '), 0 })
  vim.cmd.normal('gd')
  h.matches(vim.api.nvim_get_current_line(), '%+%d+ ')
  vim.api.nvim_win_set_cursor(0, { line_with('out%[i%] = s') + 1, 0 })
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  h.matches(vim.api.nvim_buf_get_name(0), '/app%.c$')
  h.matches(vim.api.nvim_get_current_line(), 'out%[i%] = s')
  vim.cmd.wincmd('p')
  vim.cmd.normal('q')
  h.equal(vim.fn.bufwinid('profd://annotate'), -1)
  h.equal(marked(vim.fn.bufnr('app.c')), {})
end)

test('a name chooses the function, and what has no code is said', function()
  vim.cmd('Profd annotate mix')
  h.matches(shown()[1], '^fill  ')
  vim.cmd.normal('q')
  vim.cmd('Profd annotate nothing')
  h.note('no function is called nothing')
end)

test('what branch stacks saw has a column, and stands behind branches', function()
  local recording = h.source .. '/formats/perf_data/testdata/branch-stacks.data'
  h.write(root .. '/perf.data', h.read(recording))
  vim.cmd('Profd open ' .. root .. '/perf.data')
  h.eventually(function()
    vim.cmd('Profd annotate fill')
    vim.wait(300, function()
      return vim.bo.filetype == 'profd-annotate'
    end, 5)
    return vim.bo.filetype == 'profd-annotate'
  end, 'the instructions')
  h.matches(table.concat(lines(), '\n'), '\nexecuted: counted in %d+ runs between branches, from 8 branch stacks ')
  local jump = lines()[line_with('%+102 +jne')]
  h.matches(jump, '^ *0 %% +0 %% +%d+  %+102 .*; taken 99%.%d %% %(%d+%), mispredicted ')
  h.matches(lines()[line_with('%+104 +ret')], '; taken 100 %% %(%d%) to _start%+0x11')
end)
