-- The connection: found, lost, found again; projects; :checkhealth.
local h = require('harness')

local root = h.project('daemon')

local function checkhealth()
  vim.cmd('checkhealth profd')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd.bwipeout()
  return text
end

test('checkhealth starts the daemon and misses a profile', function()
  h.setup()
  vim.cmd.edit(root .. '/digest.go')
  local text = checkhealth()
  h.matches(text, 'OK Neovim 0%.%d+')
  h.matches(text, 'OK [^\n]*/bin/profd: [^\n]*%d+%.%d+%.%d+')
  h.matches(text, 'OK the daemon answers')
  h.matches(text, 'WARNING no profile is open')
  h.equal(#h.daemons(), 1)
end)

test('checkhealth says how the file is mapped', function()
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  h.hint(15, '940 ms')
  local text = checkhealth()
  h.matches(text, 'OK profile: cpu%.pprof %(p%d+%), revision 1')
  h.matches(text, 'OK [^\n]*digest%.go is go%-demo/digest%.go of the profile %(by suffix%), %d+ lines with a cost')
  h.write(root .. '/other.txt', 'nothing\n')
  vim.cmd.edit(root .. '/other.txt')
  h.matches(checkhealth(), 'WARNING [^\n]*other%.txt: the profile has no path that is this file')
end)

test('a daemon that dies is said once, and started again by the next command', function()
  vim.cmd.edit(root .. '/digest.go')
  h.hint(15, '940 ms')
  vim.cmd('Profd open ' .. root .. '/heap.pprof')
  vim.cmd('Profd metric alloc_objects')
  h.eventually(function()
    return require('profd').status() == 'heap.pprof · alloc_objects'
  end, 'the metric')
  local before = h.daemons()
  h.equal(#before, 1)
  vim.uv.kill(before[1], 'sigkill')
  h.note('^profd: the daemon is gone; the next :Profd command starts it again$')
  h.notes = {}
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'hot spots from a new daemon')
  h.equal(vim.fn.getqflist({ title = 0 }).title, 'profd: alloc_objects of heap.pprof, self')
  h.equal(h.notes, {})
  vim.cmd.cclose()
  local after = h.daemons()
  h.equal(#after, 1)
  h.truthy(after[1] ~= before[1])
  h.hint(22, '%%')
end)

test('the log tells what happened', function()
  vim.cmd('Profd log')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  h.matches(text, 'the daemon is gone')
  vim.cmd('normal q')
end)

test('a project that lists its profiles needs no command', function()
  vim.cmd('silent! %bwipeout!')
  local client = require('profd.client')
  client.stop()
  for name in pairs(package.loaded) do
    if name:match('^profd') then
      package.loaded[name] = nil
    end
  end
  local project = h.project('project')
  h.write(project .. '/.profd.toml', 'profiles = ["cpu.pprof"]\nthreshold = 0.1\n')
  require('profd.config').set({ cmd = h.cmd })
  vim.cmd.edit(project .. '/digest.go')
  h.hint(15, '^11%.3 %%  940 ms')
  h.equal(h.hints()[13], nil, 'below the threshold of the project')
  h.note('^profd: cpu%.pprof is shown$')
end)

test('checkhealth and the summary say what a profile does not know', function()
  h.write(root .. '/plain.folded', 'main;work 9\n')
  vim.cmd('Profd open ' .. root .. '/plain.folded')
  h.note('^profd: plain%.folded: samples 9')
  vim.cmd.edit(root .. '/digest.go')
  h.matches(checkhealth(), 'WARNING 100 %% of samples is in code without line numbers')
  vim.cmd('Profd summary')
  local text = h.eventually(function()
    local lines = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    return lines:find('Missing', 1, true) and lines
  end, 'the summary')
  h.matches(text, '100 %% of samples is in code without line numbers%.\n    Compiling with %-g')
  vim.cmd('normal q')
end)

test('a hot spot outside the workspace is opened after asking', function()
  local folder = h.work .. '/beyond'
  vim.fn.mkdir(folder, 'p')
  h.write(folder .. '/util.js', '\n\nfunction util() {\n}\n')
  local function frame(name, url, line)
    return { functionName = name, scriptId = '1', url = url, lineNumber = line, columnNumber = 0 }
  end
  local profile = {
    nodes = {
      { id = 1, callFrame = frame('(root)', '', -1), children = { 2 } },
      { id = 2, callFrame = frame('util', folder .. '/util.js', 2) },
    },
    startTime = 0,
    endTime = 1000,
    samples = { 2, 2 },
    timeDeltas = { 0, 500 },
  }
  h.write(root .. '/beyond.cpuprofile', vim.json.encode(profile))
  vim.cmd('Profd open ' .. root .. '/beyond.cpuprofile')
  h.note('^profd: beyond%.cpuprofile: ')
  vim.cmd('Profd hotspots')
  h.eventually(function()
    return vim.bo.buftype == 'quickfix'
  end, 'hot spots')
  h.matches(vim.api.nvim_buf_get_lines(0, 0, 1, false)[1], 'util%.js:3||')
  local select, asked = vim.ui.select, 0
  vim.ui.select = function(items, _, done)
    asked = asked + 1
    done(items[1])
  end
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes('<CR>', true, false, true), 'x', false)
  vim.ui.select = select
  h.equal(asked, 1)
  h.equal(vim.api.nvim_buf_get_name(0), vim.uv.fs_realpath(folder .. '/util.js'))
  h.equal(vim.api.nvim_win_get_cursor(0)[1], 3)
  vim.cmd.cclose()
end)

test('a file that changed since the recording has its hints with a mark', function()
  vim.cmd('silent! %bwipeout!')
  local project = h.work .. '/project/go-demo'
  vim.uv.fs_utime(project .. '/digest.go', 1900000000, 1900000000)
  vim.cmd.edit(project .. '/digest.go')
  vim.cmd('Profd open ' .. project .. '/cpu.pprof')
  local hint = h.hint(15, '^~11%.3 %%  940 ms')
  h.equal(hint.group, 'ProfdStale')
  h.matches(checkhealth(), 'WARNING Recorded before the last change of this file')
end)
