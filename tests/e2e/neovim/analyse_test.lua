-- Scripts over the profile.
local h = require('harness')

local compared = h.source .. '/tests/fixtures/compare/before-after'
local root = h.work .. '/parcels'
local session

local function prepare()
  vim.fn.mkdir(root .. '/.git', 'p')
  for name in vim.fs.dir(compared .. '/after') do
    h.write(root .. '/' .. name, h.read(compared .. '/after/' .. name))
    vim.uv.fs_utime(root .. '/' .. name, 1600000000, 1600000000)
  end
  for _, name in ipairs({ 'before-1.pb.gz', 'after-1.pb.gz' }) do
    h.write(root .. '/' .. name, h.read(compared .. '/' .. name))
  end
  vim.fn.mkdir(root .. '/.profd/analyses', 'p')
  h.write(
    root .. '/.profd/analyses/quiet.lua',
    '-- @title Without the runtime\n'
      .. 'profile:visit(function(node) if node.name:find("^runtime") then node:elide() end end)\nprint("done")\n'
  )
  vim.cmd.cd(root)
end

local function shown()
  h.eventually(function()
    return vim.bo.filetype == 'profd-analysis'
  end, 'what the script gave')
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

test('a script is run over two profiles, its table is shown, and its notes lead to their lines', function()
  prepare()
  h.setup()
  session = require('profd.session')
  vim.cmd.edit('batch.go')
  vim.cmd('Profd open after-1.pb.gz')
  h.eventually(function()
    return session.profile
  end, 'the profile')
  h.completed('Profd analyse top_r', { 'top_regressions' })
  vim.cmd('Profd analyse top_regressions before-1.pb.gz rows=2')
  local lines = shown()
  h.equal(lines[1], 'top_regressions')
  h.equal(lines[3], 'Regressions')
  h.matches(lines[4], '^function +before +after +change +growth$')
  -- By go tool pprof -top -diff_base: 1.41 s, 1.29 s.
  h.matches(lines[5], '^main%.foldSum +0 s +1%.41 s +1%.41 s$')
  h.matches(lines[6], '^main%.parseRow +3%.47 s +4%.76 s +1%.29 s +37%.2 %%$')
  -- What it says of lines stands at their ends.
  local batch = vim.fn.bufnr('batch.go')
  local lines_namespace = vim.api.nvim_create_namespace('profd.analyse.lines')
  local function notes()
    return vim.api.nvim_buf_get_extmarks(batch, lines_namespace, 0, -1, { details = true })
  end
  local on_lines = vim.tbl_map(function(mark)
    return ('%d%s'):format(mark[2] + 1, mark[4].virt_text[1][1])
  end, notes())
  h.equal(on_lines, { '25  ◂ cpu: +37.2 % since the run before' })
  vim.cmd('Profd toggle')
  h.equal(#notes(), 0)
  vim.cmd('Profd toggle')
  h.equal(#notes(), #on_lines)
  vim.fn.search('batch\\.go:25')
  vim.cmd('normal \r')
  h.matches(vim.api.nvim_buf_get_name(0), '/batch%.go$')
  h.equal(vim.api.nvim_win_get_cursor(0)[1], 25)
end)

test('a script of the workspace asks first, and the profile that it makes is shown', function()
  local asked
  vim.ui.select = function(items, opts, done)
    asked = opts.prompt
    done(items[1])
  end
  vim.cmd('Profd analyse quiet')
  h.eventually(function()
    return session.name == 'quiet of after-1.pb.gz'
  end, 'the profile of the script')
  h.matches(asked, 'is a script of this workspace that you have not run in this form')
  h.equal(vim.list_slice(shown(), 1, 2), { 'quiet: quiet of after-1.pb.gz', 'done' })
  vim.cmd.close()
end)

test('what is wrong with a script is said with its line', function()
  h.write(root .. '/.profd/analyses/quiet.lua', 'print(1)\nlocal x = y.z\n')
  vim.cmd('Profd analyse quiet')
  h.note('quiet, line 2: attempt to index a nil value %(global .y.%)')
  vim.cmd('Profd analyse nothing')
  h.note('there is no analysis nothing; :Profd analyse lists those there are')
end)
