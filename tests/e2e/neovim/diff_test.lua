-- What became of a profile: two of them, opened as one.
local h = require('harness')

local session
local compared = h.source .. '/tests/fixtures/compare/before-after'
local root = h.work .. '/parcels'

local TOTAL = '13%.1 s → 13%.9 s, %+780 ms %(%+6%.0 %%%)'
local NAME = 'before%-1%.pb%.gz → after%-1%.pb%.gz'

--- A checkout of the program as it is after the change, with both profiles beside it.
local function prepare()
  vim.fn.mkdir(root .. '/.git', 'p')
  for name in vim.fs.dir(compared .. '/after') do
    h.write(root .. '/' .. name, h.read(compared .. '/after/' .. name))
    vim.uv.fs_utime(root .. '/' .. name, 1600000000, 1600000000)
  end
  for _, name in ipairs({ 'before-1.pb.gz', 'after-1.pb.gz' }) do
    h.write(root .. '/' .. name, h.read(compared .. '/' .. name))
  end
  vim.cmd.cd(root)
end

local function list()
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'the quickfix window')
  local found = vim.fn.getqflist({ title = 0, items = 0 })
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd.cclose()
  return found, lines
end

--- The lines with a function, whose names are as in the list.
local function lines_of(lines, name)
  return vim.tbl_filter(function(line)
    return vim.endswith(line, name)
  end, lines)
end

test('two files are compared, and the totals and the change are said in one message', function()
  prepare()
  h.setup()
  session = require('profd.session')
  vim.cmd.edit('batch.go')
  h.completed('Profd diff be', { 'before-1.pb.gz' })
  h.completed('Profd diff before-1.pb.gz a', { 'after-1.pb.gz' })
  vim.cmd('Profd diff before-1.pb.gz after-1.pb.gz')
  h.note('^profd: ' .. TOTAL .. ': ' .. NAME .. '; values are as measured$')
  h.equal(#h.notes, 1)
  h.matches(session.name, '^' .. NAME .. '$')
  h.matches(require('profd').status(), NAME)
end)

test('the functions of a diff are listed by what became of them, and can be jumped to', function()
  vim.cmd('Profd hotspots')
  local found, lines = list()
  h.matches(found.title, '^profd: ' .. TOTAL .. ' of ' .. NAME .. ', self$')
  -- By go tool pprof -top -diff_base: 1.41 s, -1.32 s, -1.32 s, 1.29 s.
  h.matches(lines[1], '^sums%.go|17| +%+1%.41 s +%[A%]  main%.foldSum$')
  h.matches(lines[2], '%-1%.32 s %(%-100 %%%) +%[D%]  main%.checkLegacyCodes$')
  h.matches(lines[3], '^sums%.go|4| +%-1%.32 s %(%-58 %%%) +main%.summarise$')
  h.matches(lines[4], '^batch%.go|25| +%+1%.29 s %(%+37 %%%) +main%.parseRow$')
  h.equal(#lines_of(lines, 'main.parseRow'), 1)
  h.equal(lines_of(lines, 'main.checkStreet'), {}, 'nothing became of it')
  vim.cmd('cc 4')
  h.matches(vim.api.nvim_buf_get_name(0), '/batch%.go$')
  h.matches(vim.api.nvim_get_current_line(), '^func parseRow')
  h.equal(h.notes, {})
end)

test('what got worse, and what got better, are lists of their own', function()
  h.equal(vim.fn.getcompletion('Profd hotspots ', 'cmdline'), { 'change', 'worse', 'better' })
  vim.cmd('Profd hotspots worse')
  local _, worse = list()
  h.matches(worse[1], '%+1%.29 s %(%+37 %%%) +main%.parseRow$')
  h.equal(#lines_of(worse, 'main.foldSum'), 1, 'what only moved has a row, further down')
  vim.cmd('Profd hotspots better')
  local _, better = list()
  h.matches(better[1], 'main%.checkLegacyCodes$')
  vim.cmd('Profd hotspots line')
  h.note('^profd: ' .. NAME .. ' is listed by change, worse or better$')
end)

--- The hints, signs and highlights on the screen, by line of the text.
local function painted()
  local out = {}
  local marks = vim.api.nvim_buf_get_extmarks(0, require('profd.hints').namespace, 0, -1, { details = true })
  for _, mark in ipairs(marks) do
    local chunk = mark[4].virt_text[#mark[4].virt_text]
    local text = vim.api.nvim_buf_get_lines(0, mark[2], mark[2] + 1, false)[1]
    out[vim.trim(text)] = { hint = vim.trim(chunk[1]), group = chunk[2], sign = mark[4].sign_text }
  end
  return out
end

test('hints, signs and a hover of a diff say what became of each line', function()
  vim.cmd.edit('batch.go')
  local answered = false
  vim.api.nvim_create_autocmd('User', {
    pattern = 'ProfdHints',
    once = true,
    callback = function()
      answered = true
    end,
  })
  h.notes = {}
  require('profd.hints').refresh_all()
  h.eventually(function()
    return answered
  end, 'an answer about the hints')
  local lines = painted()
  -- Which text was measured before is not known: functions below these moved.
  local called = lines['parcels[i] = parseRow(seed + uint64(i))']
  h.matches(called.hint, '^~%+37%.2 %% +%+1%.29 s')
  h.matches(called.group, '^ProfdHeat')
  h.matches(called.sign, '▲')
  -- What was called before stands a line further down.
  h.matches(lines['checkAddresses(parcels)'].hint, '^~')
  h.truthy(not lines['attachLabels(parcels)'].hint:find('[D]', 1, true))
  vim.api.nvim_win_set_cursor(0, { 25, 0 })
  vim.cmd('Profd hover')
  local hover = h.eventually(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
      end
    end
  end, 'a hover')
  h.matches(hover, 'main%.parseRow')
  h.matches(hover, 'metric +before +after +change')
  h.matches(hover, 'cpu +3%.47 s +4%.76 s +%+1%.29 s %(%+37 %%%)')
  vim.cmd('Profd summary')
  h.eventually(function()
    return vim.api.nvim_buf_get_name(0):find('profd://summary', 1, true)
  end, 'the summary')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  h.matches(text, '^' .. NAME)
  h.matches(text, 'main%.parseRow')
  vim.cmd.close()
  h.equal(h.notes, {})
end)

test('open profiles are compared by their names and handles, which are completed', function()
  vim.cmd('Profd open before-1.pb.gz')
  h.note('^profd: before%-1%.pb%.gz: ')
  vim.cmd('Profd open after-1.pb.gz')
  h.note('^profd: after%-1%.pb%.gz: ')
  local diff = 'before-1.pb.gz → after-1.pb.gz'
  h.completed('Profd diff before-1.pb.gz\\ ', { (diff:gsub(' ', '\\ ')) })
  h.notes = {}
  vim.cmd.cd(h.work) -- where no such files are
  vim.cmd('Profd diff after-1.pb.gz before-1.pb.gz')
  h.note('^profd: 13%.9 s → 13%.1 s, %-780 ms %(%-5%.6 %%%): after%-1%.pb%.gz → before%-1%.pb%.gz')
  local entries = h.await(require('profd.profiles').list)
  local handle
  for _, entry in ipairs(entries) do
    handle = entry.name == 'before-1.pb.gz' and entry.profile or handle
  end
  h.notes = {}
  vim.cmd(('Profd diff %s after-1.pb.gz'):format(handle))
  h.note('^profd: ' .. TOTAL .. ': ' .. NAME)
  vim.cmd.cd(root)
end)

test('without arguments both are chosen, of what is open or a file', function()
  local asked = {}
  local select, input = vim.ui.select, vim.ui.input
  vim.ui.select = function(items, opts, done)
    local shown = vim.tbl_map(opts.format_item, items)
    asked[#asked + 1] = { opts.prompt, shown }
    for i, text in ipairs(shown) do
      if vim.startswith(text, #asked == 1 and 'before-1.pb.gz  13.1 s' or 'A file') then
        return done(items[i])
      end
    end
  end
  vim.ui.input = function(opts, done)
    h.equal({ opts.prompt, opts.completion }, { 'After: ', 'file' })
    done('after-1.pb.gz')
  end
  vim.cmd('Profd diff')
  h.note('^profd: ' .. TOTAL .. ': ' .. NAME)
  vim.ui.select, vim.ui.input = select, input
  h.equal({ asked[1][1], asked[2][1] }, { 'Before:', 'After:' })
  -- Diffs are not offered, and what is before is not offered for after.
  h.equal(#asked[1][2], 3)
  h.equal(#asked[2][2], 2)
  h.matches(asked[2][2][1], '^after%-1%.pb%.gz  13%.9 s cpu$')
  h.equal(asked[2][2][2], 'A file …')
end)

test('two that can hardly be compared are, with the reasons', function()
  h.notes = {}
  vim.cmd(('Profd diff %s/tests/fixtures/go-demo/cpu.pprof after-1.pb.gz'):format(h.source))
  local note = h.note('^profd: .* → 13%.9 s, .*: cpu%.pprof → after%-1%.pb%.gz; programs differ: ')
  local _, times = note:gsub('are multiplied by', '')
  h.equal(times, 1, note)
  vim.cmd('Profd close')
  h.note('^profd: cpu%.pprof → after%-1%.pb%.gz closed$')
  vim.cmd('Profd diff before-1.pb.gz after-1.pb.gz')
  h.note(TOTAL)
end)

test('what cannot be compared is told with its reason, and the diff that is shown stays', function()
  vim.cmd('Profd diff before-1.pb.gz')
  h.note('^profd: :Profd diff takes two profiles, before and after, or none: then you choose$')
  h.notes = {}
  vim.cmd('Profd diff before-1.pb.gz no-such.pprof')
  h.note('no%-such%.pprof')
  h.equal(#h.notes, 1)
  h.matches(session.name, NAME)
  h.notes = {}
  vim.cmd('Profd diff a b c')
  h.equal(h.notes, { 'profd: :Profd diff takes two arguments' })
end)

test('what became slower is a diagnostic of the editor, where that is wanted', function()
  vim.cmd.edit(root .. '/batch.go')
  local bufnr = vim.api.nvim_get_current_buf()
  h.equal(vim.diagnostic.get(bufnr), {})
  h.write(root .. '/.profd.toml', 'diagnostics = true\n[gate]\nrules = ["total(main.parseRow) < +5%"]\n')
  local found = h.eventually(function()
    local at = vim.diagnostic.get(bufnr, { lnum = 24 })
    return #at == 2 and at
  end, 'diagnostics of parseRow')
  local messages = { found[1].message, found[2].message }
  table.sort(messages)
  h.matches(messages[1], '^main%.parseRow: self %+1%.29 s %(%+37 %%%)')
  h.matches(messages[2], '^total%(main%.parseRow%) < %+5%% is broken: 3%.47 s')
  h.equal(found[1].severity, vim.diagnostic.severity.WARN)
  h.equal(found[1].source, 'profd')
  h.write(root .. '/.profd.toml', 'diagnostics = false\n')
  h.eventually(function()
    return #vim.diagnostic.get(bufnr) == 0
  end, 'no diagnostics')
end)

test('a diff is read again when one of its files is written', function()
  h.write(root .. '/after-1.pb.gz', h.read(compared .. '/after-2.pb.gz'))
  h.note(NAME)
  h.eventually(function()
    return session.revision == 2
  end, 'the next revision')
  vim.cmd('Profd hotspots')
  local found = list()
  h.matches(found.title, '^profd: 13%.1 s → 1')
  h.truthy(not found.title:find(TOTAL), found.title)
end)

test('a diff is opened again with a new daemon, and closed as any profile', function()
  vim.uv.kill(h.daemons()[1], 'sigkill')
  h.note('^profd: the daemon is gone')
  vim.cmd('Profd hotspots')
  h.matches(list().title, NAME)
  vim.cmd('Profd close')
  h.note('^profd: ' .. NAME .. ' closed$')
end)
