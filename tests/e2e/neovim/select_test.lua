-- Which of several open profiles is meant: by a picker, by name, by number.
local h = require('harness')

local root = h.project('select')
local session

local function shown()
  return session.name
end

test('another open profile is shown by its name, which is completed', function()
  h.setup()
  session = require('profd.session')
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  h.hint(15, '^11%.3 %%  940 ms')
  vim.cmd('Profd open ' .. root .. '/heap.pprof')
  h.note('^profd: heap%.pprof: ')
  h.completed('Profd select ', { 'cpu.pprof', 'heap.pprof' })
  h.completed('Profd select he', { 'heap.pprof' })
  vim.cmd('Profd select cpu.pprof')
  h.note('^profd: cpu%.pprof is shown$')
  h.hint(15, '^11%.3 %%  940 ms')
  h.equal(shown(), 'cpu.pprof')
end)

test('without a name there is a picker, which marks the one that is shown', function()
  local seen
  local select = vim.ui.select
  vim.ui.select = function(items, opts, done)
    seen = vim.tbl_map(opts.format_item, items)
    done(items[2])
  end
  vim.cmd('Profd select')
  h.note('^profd: heap%.pprof is shown$')
  vim.ui.select = select
  h.equal(#seen, 2)
  h.matches(seen[1], '^● cpu%.pprof  8%.34 s cpu$')
  h.matches(seen[2], '^  heap%.pprof  ')
end)

test('profiles of other windows are behind a row of their own', function()
  local theirs = h.work .. '/theirs.folded'
  h.write(theirs, 'main;work 3\n')
  local id = assert(vim.lsp.start({ name = 'other', cmd = h.cmd, root_dir = h.work }, { attach = false }))
  local other = vim.lsp.get_client_by_id(id)
  local command = { command = 'profd.open', arguments = { theirs } }
  local opened
  local function answer(err)
    opened = err or true
  end
  if vim.fn.has('nvim-0.11') == 1 then
    other:request('workspace/executeCommand', command, answer)
  else
    other.request('workspace/executeCommand', command, answer)
  end
  h.eventually(function()
    return opened == true
  end, 'the other client has it open')
  local seen, prompts = {}, {}
  local select = vim.ui.select
  vim.ui.select = function(items, opts, done)
    seen[#seen + 1] = vim.tbl_map(opts.format_item, items)
    prompts[#prompts + 1] = opts.prompt
    done(#seen == 1 and items[#items] or nil)
  end
  vim.cmd('Profd select')
  h.eventually(function()
    return #seen == 2
  end, 'the second picker')
  vim.ui.select = select
  h.equal(#seen[1], 3)
  h.matches(seen[1][1], 'cpu%.pprof')
  h.matches(seen[1][2], 'heap%.pprof')
  h.equal(seen[1][3], '  Of other windows: 1 …')
  h.equal(#seen[2], 1)
  h.matches(seen[2][1], '^  theirs%.folded  ')
  h.equal(prompts, { 'Profile:', 'Profile of another window:' })
  -- Chosen, and then closed with its window: what is this editor's own is shown again.
  vim.cmd('Profd select theirs.folded')
  h.note('^profd: theirs%.folded is shown$')
  h.notes = {}
  vim.lsp.stop_client(id, true)
  h.note('^profd: theirs%.folded: nobody has it open any more$')
  h.note('^profd: .*%.pprof is shown$')
  h.matches(shown(), '%.pprof$')
end)

test('profiles of one file are chosen by number and by the names it gives them', function()
  vim.cmd('Profd open ' .. h.source .. '/formats/speedscope/testdata/units.speedscope.json')
  h.eventually(function()
    return shown():find('units %(bytes%)')
  end, 'the first of the file')
  vim.cmd('Profd select units (none)')
  h.eventually(function()
    return shown():find('units %(none%)')
  end, 'the one of that name')
  vim.cmd('Profd select 2')
  h.eventually(function()
    return shown():find('units %(seconds%)')
  end, 'the second')
  h.completed('Profd select units.speedscope.json · units (b', { '(bytes)' })
  vim.cmd('Profd select units.speedscope.json · units (bytes)')
  h.eventually(function()
    return shown():find('units %(bytes%)')
  end, 'the whole name')
end)

test('what is not open is told with what is', function()
  vim.cmd('Profd select nothing.pprof')
  h.note('^profd: no open profile is called "nothing%.pprof"; open: p1 cpu%.pprof %(.*, p2 heap%.pprof')
end)

test('two of one name are told apart by their folders', function()
  local labels = require('profd.profiles').labels({
    { name = 'cpu.pprof', uri = 'file:///a/cpu.pprof' },
    { name = 'cpu.pprof', uri = 'file:///b/cpu.pprof' },
    { name = 'x', uri = 'file:///b/x' },
  })
  h.equal(labels, { 'cpu.pprof (/a/cpu.pprof)', 'cpu.pprof (/b/cpu.pprof)', 'x' })
end)
