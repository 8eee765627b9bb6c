-- Hints while the text and the profile change.
local h = require('harness')

local root = h.project('edit')

test('hints move with the text, and are what the server says of it', function()
  h.setup()
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  local before = h.hint(15, '940 ms').text
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '// one', '// two', '// three' })
  h.equal(h.hints()[18].text, before, 'at once, before any answer')
  h.eventually(function()
    local hints = h.hints()
    return hints and hints[18] and hints[18].text == before and not hints[15]
  end, 'the hint three lines further down')
end)

--- What follows is undone on its own.
local function new_undo_block()
  vim.o.undolevels = vim.o.undolevels
end

test('a changed line is stale, and is not after undo', function()
  new_undo_block()
  vim.api.nvim_buf_set_lines(0, 17, 18, false, { '\t\tdigest = sha256.Sum256(digest[1:])' })
  vim.cmd.doautocmd('TextChanged')
  local hint = h.hint(18, '^~11%.3 %%  940 ms')
  h.equal(hint.group, 'ProfdStale')
  vim.cmd('silent undo')
  vim.cmd.doautocmd('TextChanged')
  h.eventually(function()
    local hints = h.hints()
    return hints and hints[18] and hints[18].text:find('^11%.3')
  end, 'a fresh hint')
end)

test('a deleted line takes its hint along, undo brings it back', function()
  new_undo_block()
  vim.api.nvim_win_set_cursor(0, { 18, 0 })
  vim.cmd.delete()
  local hints = h.hints() or {}
  h.equal(hints[18] and hints[18].text:find('940 ms') or nil, nil)
  vim.cmd('silent undo')
  h.hint(18, '940 ms')
  vim.cmd('edit!')
  h.hint(15, '940 ms')
end)

test('a profile that is written anew changes the hints by itself', function()
  h.hint(15, '940 ms')
  -- As profilers do it: another file, moved into place.
  h.write(root .. '/new.pprof', h.read(root .. '/heap.pprof'))
  vim.uv.fs_rename(root .. '/new.pprof', root .. '/cpu.pprof')
  h.note('cpu%.pprof reloaded')
  h.hint(22, 'iB')
  h.eventually(function()
    return not (h.hints() or {})[15]
  end, 'the old hint gone')
end)

test('a profile that becomes unreadable keeps its numbers and says so', function()
  h.write(root .. '/broken.pprof', 'no profile')
  vim.uv.fs_rename(root .. '/broken.pprof', root .. '/cpu.pprof')
  h.note('cpu%.pprof.*The older revision is shown')
  h.hint(22, 'iB')
end)

test('reload reads the file again', function()
  h.write(root .. '/cpu.pprof', h.read(h.source .. '/tests/fixtures/go-demo/cpu.pprof'))
  vim.cmd('Profd reload')
  h.hint(15, '940 ms')
  h.notes = {}
  vim.cmd('Profd reload')
  h.note('^profd: cpu%.pprof is up to date$')
end)

--- The marks of hints, by line.
local function mark_ids()
  local ids = {}
  local namespace = require('profd.hints').namespace
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {})) do
    ids[mark[2] + 1] = mark[1]
  end
  return ids
end

--- How often the server is asked for hints.
local asked = 0
local function count_questions()
  local client = require('profd.client')
  local request = client.request
  client.request = function(method, ...)
    asked = asked + (method == require('profd.protocol').methods.source_annotations and 1 or 0)
    return request(method, ...)
  end
  return function()
    client.request = request
  end
end

local function type_on(line, text)
  vim.api.nvim_buf_set_lines(0, line - 1, line, false, { text })
  vim.cmd.doautocmd('TextChangedI')
end

test('an edit sets the hint of its line anew and leaves the others', function()
  vim.cmd('edit!')
  h.hint(15, '^11%.3 %%  940 ms')
  type_on(15, '\t\tdigest = sha256.Sum256(digest[2:])')
  h.hint(15, '^~11%.3 %%  940 ms')
  local before, after = mark_ids(), nil
  type_on(15, '\t\tdigest = sha256.Sum256(digest[3:])')
  h.eventually(function()
    after = mark_ids()
    return after[15] and after[15] ~= before[15]
  end, 'another mark on the line that was edited')
  before[15], after[15] = nil, nil
  h.truthy(next(before), 'other hints')
  h.equal(after, before)
end)

test('typing beside the hints asks for them when it ends', function()
  vim.cmd('edit!')
  h.hint(15, '^11%.3 %%  940 ms')
  local stop = count_questions()
  type_on(4, '// typed')
  vim.wait(400, function()
    return asked > 0
  end, 5)
  h.equal(asked, 0)
  vim.api.nvim_exec_autocmds('ModeChanged', { pattern = 'i:n' })
  h.eventually(function()
    return asked == 1
  end, 'a question when insert mode is left')
  stop()
  vim.cmd('edit!')
end)
