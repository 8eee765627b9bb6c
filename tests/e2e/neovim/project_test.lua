-- What .profd.toml says is what is shown, from the moment it changes on disk: nothing is connected anew, and no Lua reads it.
local h = require('harness')

local root = h.project('followed')
local path = root .. '/.profd.toml'
local client_id

local function replace(text)
  h.write(path .. '.new', text)
  assert(vim.uv.fs_rename(path .. '.new', path))
end

local function no_hint(line)
  h.eventually(function()
    return (h.hints() or {})[line] == nil
  end, ('no hint on line %d'):format(line))
end

test('a project file without profiles is a connection, and no more', function()
  h.write(path, 'threshold = 0.01\n')
  h.setup()
  vim.cmd.edit(root .. '/digest.go')
  h.eventually(function()
    local session = package.loaded['profd.session']
    return session and session.project
  end, 'the word of the daemon')
  h.equal(require('profd.session').project.profiles, 0)
  client_id = require('profd.client').get().id
  h.equal(h.notes, {})
end)

test('profiles that it lists now are shown', function()
  h.write(path, 'profiles = ["cpu.pprof"]\nthreshold = 0.01\n')
  h.hint(15, '^11%.3 %%  940 ms')
  h.hint(13, '%%')
end)

test('a higher threshold silences lines, whoever wrote the file and however', function()
  replace('profiles = ["cpu.pprof"]\nthreshold = 0.1\n')
  no_hint(13)
  h.hint(15, '^11%.3 %%  940 ms')
end)

test('what is broken is said with its place, and what held before holds', function()
  h.write(path, 'profiles = ["cpu.pprof"]\nthreshold = = 1\n')
  h.note('%.profd%.toml:2:%d+: ')
  h.hint(15, '^11%.3 %%  940 ms')
  h.equal(h.hints()[13], nil)
  -- The message for the eyes and the word for the client are two.
  h.eventually(function()
    return #require('profd.session').project.problems == 1
  end, 'the word of the daemon')
  vim.cmd('checkhealth profd')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd.bwipeout()
  h.matches(text, 'OK project file: [^\n]*/%.profd%.toml %(patterns of profiles: 1%)')
  h.matches(text, 'WARNING [^\n]*%.profd%.toml:2:%d+: ')
end)

test('repaired, its filters hold', function()
  h.write(path, 'profiles = ["cpu.pprof"]\nfilters = ["drop function /editsFrom/"]\n')
  h.eventually(function()
    local hint = (h.hints() or {})[15]
    return hint and hint.text:find('940 ms') and not hint.text:find('^11%.3 %%')
  end, 'a share of what passes')
  h.equal(#require('profd.session').project.problems, 0)
end)

test('removed, its profile is closed; made new, it is back', function()
  assert(vim.uv.fs_unlink(path))
  no_hint(15)
  h.write(path, 'profiles = ["cpu.pprof"]\n')
  h.hint(15, '^11%.3 %%  940 ms')
  h.equal(require('profd.client').get().id, client_id)
end)
