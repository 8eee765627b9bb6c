-- A profile that is recorded again: what became of it is said, and the recording before can be compared.
local h = require('harness')

local compared = h.source .. '/tests/fixtures/compare/before-after'
local root = h.work .. '/again'

--- As profilers do it: another file, moved into place.
local function record(name)
  h.write(root .. '/next', h.read(compared .. '/' .. name))
  vim.uv.fs_rename(root .. '/next', root .. '/cpu.pb.gz')
end

test('a profile that is recorded again says what got slower or faster', function()
  vim.fn.mkdir(root .. '/.git', 'p')
  record('before-1.pb.gz')
  vim.cmd.cd(root)
  h.setup()
  vim.cmd('Profd open cpu.pb.gz')
  h.note('^profd: cpu%.pb%.gz: ')
  h.notes = {}
  record('after-1.pb.gz')
  local note = h.note('recorded again')
  h.matches(note, '^profd: cpu%.pb%.gz recorded again: cpu 13%.1 s → 13%.9 s, %+780 ms %(%+6%.0 %%%)%. ')
  h.matches(note, '%[A%] main%.foldSum %+1%.41 s')
  h.matches(note, 'beyond sampling noise%.$')
  h.equal(#h.notes, 1)
end)

test('the recording before is offered first, and compared with the one that is shown', function()
  local select, shown = vim.ui.select, nil
  vim.ui.select = function(items, opts, done)
    h.equal(opts.prompt, 'Before:')
    shown = vim.tbl_map(opts.format_item, items)
    done(items[1])
  end
  vim.cmd('Profd diff')
  h.note('^profd: 13%.1 s → 13%.9 s, %+780 ms %(%+6%.0 %%%): cpu%.pb%.gz %(recording 1%) → cpu%.pb%.gz; ')
  vim.ui.select = select
  h.equal(shown[1], 'cpu.pb.gz before it was recorded again')
end)
