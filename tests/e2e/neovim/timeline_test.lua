-- When things ran, kinds of work, and a window of time as a filter of everything.
local h = require('harness')

local session
local root

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function text()
  return table.concat(lines(), '\n')
end

local function shown(pattern, filetype)
  return h.eventually(function()
    return vim.bo.filetype == (filetype or 'profd-timeline') and text():find(pattern) and text()
  end, 'a buffer like ' .. pattern .. '; there is\n' .. text())
end

local function keys(typed)
  vim.api.nvim_feedkeys(vim.keycode(typed), 'x', false)
end

--- A trace of two threads: `load` calls `read` for 10 ms of its 40, the other works for 20.
local TRACE = {
  { ph = 'M', pid = 1, tid = 1, name = 'thread_name', args = { name = 'main' } },
  { ph = 'M', pid = 1, tid = 2, name = 'thread_name', args = { name = 'worker' } },
  { ph = 'X', pid = 1, tid = 1, ts = 0, dur = 40000, name = 'load' },
  { ph = 'X', pid = 1, tid = 1, ts = 10000, dur = 10000, name = 'read' },
  { ph = 'X', pid = 1, tid = 1, ts = 60000, dur = 40000, name = 'draw' },
  { ph = 'X', pid = 1, tid = 2, ts = 20000, dur = 20000, name = 'unpack' },
}

test('every thread has its load, the first one a flame chart over time', function()
  root = h.work .. '/timeline'
  vim.fn.mkdir(root .. '/.git', 'p')
  h.write(root .. '/run.json', vim.json.encode({ traceEvents = TRACE }))
  vim.cmd.cd(root)
  vim.o.columns = 122
  h.setup()
  session = require('profd.session')
  vim.cmd('Profd open run.json')
  h.eventually(function()
    return session.profile
  end, 'the profile')
  vim.cmd('Profd timeline')
  local all = shown('worker')
  h.matches(all, '100 ms long')
  -- 100 ms in 101 cells or so: load is a box of 40, and below it read, of 10.
  h.matches(all, '▾ main 1 +80%.0 %% ████')
  h.matches(all, '\n +▏load +▏draw +\n')
  h.matches(all, '\n +▏read +\n')
  h.matches(all, '▸ worker 2 +20%.0 %% +▇█████')
  h.truthy(not all:find('unpack'), 'of the other thread, which has no chart yet')
end)

test('<CR> shows the chart of a thread, and what is under the cursor is said', function()
  vim.fn.search('▸ worker')
  vim.cmd('normal! 0')
  keys('<CR>')
  shown('▏unpack')
  vim.fn.search('unpack')
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = 0 })
  h.matches(vim.wo.winbar, '^ unpack: .*20%.0 ms')
end)

test('a box is looked at closely, and the way back is known', function()
  vim.fn.search('▏read')
  keys('<CR>')
  shown('12%.0 ms long')
  h.matches(text(), '\n +▏read') -- a tenth of it before and after
  keys('-')
  shown('24%.0 ms long')
  keys('<BS>')
  shown('12%.0 ms long')
  keys('+++') -- faster than answers come
  shown('1%.50 ms long')
  keys('0')
  shown('100 ms long')
end)

test('a marked window is the filter of everything, and is let go', function()
  vim.fn.search('▏draw')
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_win_get_cursor(0)[1], 0 })
  vim.fn.search('▏draw')
  keys('vf ')
  local from = vim.fn.virtcol('v')
  h.truthy(vim.fn.virtcol('.') > from, 'some cells are marked')
  keys('w')
  h.eventually(function()
    return require('profd.kept').window
  end, 'the window')
  h.matches(require('profd.kept').window.clause, '^time 60%d00us%.%.%d+us$')
  h.matches(require('profd').status(), ' · time 6')
  shown('Kept everywhere: time 6')
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'the list')
  h.matches(vim.fn.getqflist({ title = 0 }).title, ' | time 6')
  h.matches(text(), 'draw')
  h.truthy(not text():find('unpack'), text())
  vim.cmd.cclose()
  vim.cmd('Profd timeline')
  shown('Kept everywhere: time 6')
  keys('W')
  h.note('all of the time')
  h.equal(require('profd.kept').window, nil)
  h.eventually(function()
    return not text():find('Kept everywhere')
  end, 'all of it again')
end)

test('it is as wide as its window', function()
  local before = #lines()[4]
  vim.o.columns = 80
  vim.api.nvim_exec_autocmds('VimResized', {})
  h.eventually(function()
    return vim.api.nvim_strwidth(lines()[4] or '') <= 80 and #lines()[4] < before
  end, 'narrower lines')
  h.matches(text(), '▏unp')
  vim.cmd.close()
end)

test('what has no times says so', function()
  h.write(root .. '/flat.folded', 'main;work 3\n')
  vim.cmd('Profd open flat.folded')
  h.eventually(function()
    return session.name == 'flat.folded'
  end, 'the profile')
  vim.cmd('Profd timeline')
  h.note('does not say when its samples were taken')
end)

test('kinds of work, and sets of my own', function()
  root = h.project('kinds')
  vim.cmd.cd(root)
  vim.cmd('Profd open cpu.pprof')
  h.eventually(function()
    return session.name == 'cpu.pprof'
  end, 'the profile')
  vim.cmd('Profd sets')
  -- As docs/analyses/kinds.md has it.
  local all = shown('garbage collection', 'profd-sets')
  h.matches(all, 'garbage collection +920 ms +11%.0 %% +10%.7 %%')
  h.matches(all, '\ntogether +4%.19 s +50%.2 %%')
  vim.cmd('Profd sets json=^encoding/json digests=digest|sha256 allocation')
  all = shown('digests', 'profd-sets')
  h.matches(all, '\njson +3%.05 s +36%.6 %%')
  h.matches(all, '\ntogether +4%.67 s +56%.0 %%')
end)

test('<CR> keeps a kind of work, and lets it go', function()
  vim.cmd('Profd sets')
  shown('garbage collection', 'profd-sets')
  vim.fn.search('garbage collection')
  keys('<CR>')
  h.note('kept everywhere: keep kind gc')
  shown('^cpu of cpu%.pprof: 920 ms | keep kind gc\n', 'profd-sets')
  vim.fn.search('garbage collection')
  keys('<CR>')
  h.note('all kinds of work')
  shown('^cpu of cpu%.pprof: 8%.34 s\n', 'profd-sets')
end)
