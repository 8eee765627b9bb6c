-- Opening a profile in the editor: hints, hover, hot spots, metrics, as a user does it.
local h = require('harness')

local root = h.project('hints')
vim.o.columns = 160 -- room for every hint

test('opening a profile puts hints on the hot lines, and only there', function()
  h.setup()
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  -- What `go tool pprof -list main.sign` says: 940 ms of 8.34 s, and 260 ms.
  h.hint(15, '^11%.3 %%  940 ms')
  h.hint(13, '^3%.1 %%  260 ms')
  h.hint(30, '^1%.2 %%  100 ms')
  h.hint(39, '^14%.6 %%  1%.22 s')
  local lines = vim.tbl_keys(h.hints())
  table.sort(lines)
  h.equal(lines, { 13, 15, 30, 39 }, 'lines above 0.5 %; 17 has 20 ms, 22 10 ms')
  h.matches(h.note('cpu%.pprof'), '^profd: cpu%.pprof: cpu 8%.34 s, %d+ records')
end)

test('the hottest line of a file has the strongest colour', function()
  local hints = h.hints()
  local hottest
  for line, hint in pairs(hints) do
    if hint.group == 'ProfdHeat10' then
      h.equal(hottest, nil, 'one line is the hottest')
      hottest = line
    end
  end
  h.truthy(hottest, 'a line is the hottest')
  h.truthy(hints[13].group ~= hints[15].group)
end)

test('hints of a file stand in one column', function()
  local column
  for line, hint in pairs(h.hints()) do
    local at = vim.fn.strdisplaywidth(vim.fn.getline(line)) + hint.full:find('%%')
    column = column or at
    h.equal(at, column, 'the per cent sign on line ' .. line)
  end
end)

test('in a narrow window hints come nearer and say less, and come back with the room', function()
  local wide = h.hints()
  vim.o.columns = 80
  local narrow = h.eventually(function()
    local hints = h.hints()
    return hints[30].full ~= wide[30].full and hints
  end, 'shorter hints')
  for line, hint in pairs(narrow) do
    local width = vim.fn.strdisplaywidth(vim.fn.getline(line))
    -- Line 30 fills the window: its share stands at the edge, over the line's end.
    local fits = line == 30 or width + 1 + vim.fn.strdisplaywidth(hint.full) <= 80
    h.truthy(fits, 'line ' .. line .. ' leaves the window: ' .. hint.full)
    h.matches(wide[line].text, '^' .. vim.pesc(hint.text), 'a part of the hint')
  end
  h.equal(narrow[30].text, '1.2 %')
  vim.o.columns = 160
  h.eventually(function()
    return vim.deep_equal(h.hints(), wide)
  end, 'the hints as they were')
end)

test('a second file gets its hints when it comes to the screen', function()
  vim.cmd.edit(root .. '/main.go')
  h.hint(59, '^8%.8 %%  730 ms')
  vim.cmd('split ' .. root .. '/parse.go')
  h.hint(52, '^36%.6 %%  3%.05 s')
  vim.cmd.close()
end)

test('K and :Profd hover show every metric, callers and callees', function()
  vim.cmd.edit(root .. '/digest.go')
  h.hint(15, '940 ms')
  vim.api.nvim_win_set_cursor(0, { 15, 4 })
  local function float()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        return window
      end
    end
  end
  -- From 0.11 on, K shows what all servers of the buffer say, as text of theirs.
  local rows = vim.fn.has('nvim-0.11') == 1
      and {
        '^%*%*`main%.sign`%*%* digest%.go:15\n',
        '| cpu | 10%.0 ms | 940 ms | 11%.3 %% |',
        '| samples | 1 | 94 | 11%.3 %% |',
      }
    or nil
  for _, how in ipairs({
    {
      function()
        vim.cmd('Profd hover')
      end,
    },
    { vim.lsp.buf.hover, rows },
  }) do
    how[1]()
    local window = h.eventually(float, 'a hover')
    local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
    local own = { '^main%.sign digest%.go:15\n', '\ncpu +10%.0 ms  940 ms  11%.3 %%', '\nsamples +1 +94  11%.3 %%' }
    for _, row in ipairs(how[2] or own) do
      h.matches(text, row)
    end
    h.matches(text, 'callers: [^\n]*verifyAll')
    h.matches(text, 'callees: [^\n]*Sum256')
    vim.api.nvim_win_close(window, true)
  end
end)

test('Enter in a hover goes to the caller', function()
  vim.cmd('Profd hover')
  local window = h.eventually(function()
    return vim.iter(vim.api.nvim_list_wins()):find(function(candidate)
      return vim.api.nvim_win_get_config(candidate).relative ~= ''
    end)
  end, 'a hover')
  vim.api.nvim_set_current_win(window)
  vim.fn.search('verifyAll')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  h.matches(vim.api.nvim_get_current_line(), '^func verifyAll')
  vim.cmd('normal! \15')
  h.equal(vim.fn.line('.'), 15, 'and back')
end)

test('a line without cost says so', function()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.cmd('Profd hover')
  h.note('^profd: nothing was measured on this line$')
end)

test('hot spots fill the quickfix list, and can be jumped to', function()
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.fn.getqflist({ size = 0 }).size > 10 and vim.bo.buftype == 'quickfix'
  end, 'the quickfix window')
  local list = vim.fn.getqflist({ title = 0, items = 0 })
  h.equal(list.title, 'profd: cpu of cpu.pprof, self')
  local sources = vim.tbl_filter(function(item)
    return item.valid == 1
  end, list.items)
  h.truthy(#sources > 0, 'a hot spot with a source')
  for _, item in ipairs(sources) do
    h.matches(vim.api.nvim_buf_get_name(item.bufnr), '/go%-demo/%w+%.go$')
  end
  -- editsFrom is the hottest function of the program's own, by go tool pprof -top.
  h.matches(sources[1].text, '%d %%.*editsFrom')
  h.matches(
    table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'),
    'report%.go|84| +1%.1 %%  90%.0 ms  main%.editsFrom'
  )
  vim.cmd.cfirst()
  while vim.fn.getqflist({ items = 0, idx = 0 }).items[vim.fn.getqflist({ idx = 0 }).idx].valid == 0 do
    vim.cmd.cnext()
  end
  h.matches(vim.api.nvim_buf_get_name(0), '/report%.go$')
  h.matches(vim.api.nvim_get_current_line(), '^func editsFrom')
  h.hint(93, '^31%.2 %%  2%.60 s')
  vim.cmd.cclose()
end)

test('hot lines are hot spots too, as the hints have them', function()
  vim.cmd('Profd hotspots line')
  h.eventually(function()
    return vim.fn.getqflist({ title = 0 }).title == 'profd: cpu of cpu.pprof, total'
  end, 'the list')
  local found
  for _, item in ipairs(vim.fn.getqflist()) do
    h.equal(item.valid, 1)
    found = found or (item.lnum == 15 and vim.api.nvim_buf_get_name(item.bufnr):match('digest%.go$') and item.text)
  end
  h.matches(found, '^ 11%.3 %%   940 ms  main%.sign')
  vim.cmd.cclose()
end)

test('the summary is the first glance', function()
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd summary')
  h.eventually(function()
    return vim.api.nvim_buf_get_name(0) == 'profd://summary'
  end, 'the summary')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  h.matches(text, '^cpu%.pprof  read as pprof')
  h.matches(text, 'cpu +8%.34 s  ← shown')
  h.matches(text, 'Hottest, by self cpu\n')
  h.matches(text, '█')
  h.matches(text, 'Heaviest paths\n')
  h.equal(vim.bo.modifiable, false)
  vim.cmd('normal q')
  h.matches(vim.api.nvim_buf_get_name(0), 'digest%.go$')
end)

test('another metric changes the hints, and the hover with them', function()
  vim.cmd('Profd open ' .. root .. '/heap.pprof')
  h.note('heap%.pprof: ')
  vim.cmd.edit(root .. '/digest.go')
  h.hint(22, '%%  %d+ MiB')
  h.completed('Profd metric alloc', { 'alloc_objects', 'alloc_space' })
  vim.cmd('Profd metric alloc_objects')
  h.note('heap%.pprof shows alloc_objects')
  h.hint(22, '^%d+%.%d %%  [%d.,]+ [kM] · self')
  h.equal(require('profd').status(), 'heap.pprof · alloc_objects')
  vim.cmd('Profd metric alloc_spice')
  h.note('heap%.pprof has no metric alloc_spice; it has alloc_objects, alloc_space, inuse_objects, inuse_space')
end)

test('a metric can be chosen from a list', function()
  local offered
  ---@diagnostic disable-next-line: duplicate-set-field
  vim.ui.select = function(items, opts, choose)
    offered = vim.tbl_map(opts.format_item, items)
    choose(items[2])
  end
  vim.cmd('Profd metric')
  h.note('heap%.pprof shows alloc_space')
  h.matches(offered[1], '^● alloc_objects  ')
  h.matches(offered[2], '^  alloc_space  ')
  h.hint(22, 'iB')
end)

test('clear takes the hints away, toggle brings them back', function()
  vim.cmd('Profd clear')
  h.equal(h.hints(), nil)
  vim.cmd('Profd toggle')
  h.hint(22, 'iB')
  vim.cmd('Profd toggle')
  h.equal(h.hints(), nil)
  vim.cmd('Profd toggle')
  h.hint(22, 'iB')
end)

test('closing a profile shows the one before, closing that shows nothing', function()
  vim.cmd('Profd close')
  h.note('^profd: heap%.pprof closed$')
  h.hint(15, '^11%.3 %%  940 ms')
  vim.cmd('Profd close')
  h.note('^profd: cpu%.pprof closed$')
  h.eventually(function()
    return h.hints() == nil
  end, 'no hints')
  vim.cmd('Profd hover')
  h.note('^profd: no profile is open; :Profd open FILE opens one$')
end)

test('a hover that is open follows a profile that is recorded again', function()
  local profile = root .. '/again.pprof'
  h.write(profile, h.read(root .. '/cpu.pprof'))
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. profile)
  h.hint(15, '940 ms')
  vim.api.nvim_win_set_cursor(0, { 15, 4 })
  vim.cmd('Profd hover')
  local function float()
    return vim.iter(vim.api.nvim_list_wins()):find(function(candidate)
      return vim.api.nvim_win_get_config(candidate).relative ~= ''
    end)
  end
  local function text()
    local window = float()
    return window and table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
  end
  h.matches(h.eventually(text, 'a hover'), 'callers: [^\n]*verifyAll')
  local here = vim.api.nvim_get_current_win()
  local hide =
    { h.profd, 'convert', '--filter', 'hide function main.verifyAll', '--force', root .. '/cpu.pprof', profile }
  h.equal(vim.system(hide, { stdin = false }):wait().code, 0)
  h.eventually(function()
    local now = text()
    return now and now:find('callers: ') and not now:find('verifyAll')
  end, 'the hover of what was recorded again')
  h.equal(vim.api.nvim_get_current_win(), here, 'nobody is taken anywhere')
  -- And a text that others change: what the line is now was not there when the profile was recorded.
  local source = h.read(root .. '/digest.go')
  h.write(root .. '/digest.go', '// one\n// two\n' .. source)
  vim.cmd('silent! edit!')
  h.eventually(function()
    local now = text()
    return now and now:find('Recorded before the last change') or not now
  end, 'the hover of a file that changed')
  h.truthy(text(), 'the hover is open still')
  h.write(root .. '/digest.go', source)
  vim.uv.fs_utime(root .. '/digest.go', 1600000000, 1600000000)
  vim.cmd('silent! edit!')
  vim.api.nvim_win_close(float(), true)
  vim.cmd('Profd close')
  h.note('again%.pprof closed$')
end)

test('a profile may have any name', function()
  local name = root .. '/my # profile [1] %.pprof'
  h.write(name, h.read(root .. '/cpu.pprof'))
  require('profd.commands').run({ fargs = vim.split('open ' .. name, ' '), args = 'open ' .. name })
  h.note('^profd: my # profile %[1%] %%%.pprof: cpu 8%.34 s')
  vim.cmd('Profd close')
  h.note('closed$')
end)

test('a file that is no profile is one line with the reason', function()
  h.write(root .. '/text.pprof', 'this is no profile at all\n')
  vim.cmd('Profd open ' .. root .. '/text.pprof')
  local note = h.note('text%.pprof')
  h.truthy(not note:find('\n'), note)
  h.truthy(not note:find('stack traceback'), note)
  h.notes = {}
  vim.cmd('Profd open ' .. root .. '/missing.pprof')
  h.note('missing%.pprof')
end)
