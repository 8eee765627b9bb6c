-- Hot lines as places: jumps, signs, on and off in a buffer, what others hear of and ask.
local h = require('harness')

local root = h.project('jump')
vim.o.columns = 160

---@type profd.ChangedEvent[]
local heard = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'ProfdChanged',
  callback = function(event)
    heard[#heard + 1] = event.data
  end,
})

local function heard_of(what)
  return h.eventually(function()
    for _, data in ipairs(heard) do
      if data.what == what then
        return data
      end
    end
  end, 'ProfdChanged of ' .. what .. ' among ' .. vim.inspect(heard))
end

local function cursor()
  return vim.api.nvim_win_get_cursor(0)[1]
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'mx', false)
end

test('nothing of the plugin is loaded before it is used, and no key is mapped but names of its own', function()
  local loaded = vim.tbl_filter(function(name)
    return vim.startswith(name, 'profd')
  end, vim.tbl_keys(package.loaded))
  h.equal(loaded, {})
  for _, mode in ipairs({ 'n', 'x', 'o', 'i', 't' }) do
    for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
      if (map.desc or ''):find('profd') then
        h.matches(map.lhs, '^<Plug>%(profd%-')
      end
    end
  end
  vim.cmd.edit(root .. '/digest.go')
  h.equal(vim.api.nvim_eval_statusline("%{v:lua.require'profd'.status()}", {}).str, '')
  loaded = vim.tbl_filter(function(name)
    return vim.startswith(name, 'profd')
  end, vim.tbl_keys(package.loaded))
  table.sort(loaded)
  h.equal(loaded, { 'profd', 'profd.config', 'profd.project', 'profd.status' }, 'a file, and a status line')
end)

test('a listener hears of the profile and of its metric', function()
  h.setup()
  require('profd').open(root .. '/cpu.pprof')
  h.hint(15, '^11%.3 %%  940 ms')
  local profile = heard_of('profile')
  h.equal({ profile.name, profile.uri }, { 'cpu.pprof', vim.uri_from_fname(root .. '/cpu.pprof') })
  h.equal(heard_of('metric').metric, 'cpu')
  h.equal(require('profd').profile().profile, profile.profile)
end)

test('hot lines are gone through, with counts, around the end of the file', function()
  vim.keymap.set('n', ']h', '<Plug>(profd-next-hot-line)')
  vim.keymap.set('n', '[h', '<Plug>(profd-prev-hot-line)')
  local at = {}
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  for i = 1, 5 do
    press(']h')
    at[i] = cursor()
  end
  h.equal(at, { 13, 15, 30, 39, 13 })
  press('[h')
  h.equal(cursor(), 39)
  press('2[h')
  h.equal(cursor(), 15)
  vim.api.nvim_win_set_cursor(0, { 14, 0 })
  press('[h')
  h.equal(cursor(), 13)
  press('<C-o>')
  h.equal(cursor(), 14, 'the jump list knows the way back')
  press('<Plug>(profd-hottest-line)')
  h.equal(cursor(), 39)
end)

test('without wrapscan the last hot line is the last', function()
  vim.o.wrapscan = false
  vim.api.nvim_win_set_cursor(0, { 39, 0 })
  press(']h')
  h.equal(cursor(), 39)
  h.note('^profd: no hot line below$')
  vim.o.wrapscan = true
end)

test('jumps go to where lines are now', function()
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { '// one', '// two' })
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  press(']h')
  h.equal(cursor(), 15)
  vim.cmd('silent undo')
  h.equal(require('profd').hints()[1].line, 13)
end)

test('an operator goes up to the next hot line', function()
  vim.keymap.set('o', ']h', '<Plug>(profd-next-hot-line)')
  vim.api.nvim_win_set_cursor(0, { 13, 0 })
  press('y]h')
  h.matches(vim.fn.getreg('"'), '\n')
end)

test('a line says what it costs, for other plugins and in a status line', function()
  local lines = require('profd').hints()
  h.equal(
    vim.tbl_map(function(hot)
      return hot.line
    end, lines),
    { 13, 15, 30, 39 }
  )
  h.matches(lines[4].text, '^14%.6 %%  1%.22 s')
  h.equal({ lines[4].heat, lines[4].stale }, { 1, false })
  vim.api.nvim_win_set_cursor(0, { 39, 0 })
  h.matches(require('profd').status({ line = true }), '^cpu%.pprof · cpu · 14%.6 %%  1%.22 s')
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  h.equal(require('profd').status({ line = true }), 'cpu.pprof · cpu')
end)

test('the status line names what filters', function()
  heard = {}
  vim.cmd('Profd mine')
  h.equal(require('profd').status(), 'cpu.pprof · cpu · my code')
  heard_of('filters')
  vim.cmd('Profd mine')
  h.equal(require('profd').status(), 'cpu.pprof · cpu')
end)

test('hints go and come back in one buffer alone', function()
  local digest = vim.api.nvim_get_current_buf()
  vim.cmd('Profd toggle buffer')
  h.equal(h.hints(digest), nil)
  vim.cmd.split(root .. '/parse.go')
  local parse = vim.api.nvim_get_current_buf()
  h.eventually(function()
    return h.hints(parse)
  end, 'hints in the other buffer')
  h.equal(h.hints(digest), nil)
  h.equal({ require('profd').is_enabled(), require('profd').is_enabled(digest) }, { true, false })
  vim.cmd('bwipeout!')
  vim.cmd('Profd toggle buffer')
  h.hint(15, '^11%.3 %%')
end)

test('a file type may be without hints from the start, and one buffer have them alone', function()
  vim.cmd('Profd clear')
  h.equal(h.hints(), nil)
  vim.b.profd_hints = true
  require('profd.hints').refresh_all()
  h.hint(15, '^11%.3 %%')
  vim.b.profd_hints = nil
  vim.cmd('Profd toggle')
  h.hint(15, '^11%.3 %%')
  vim.cmd('Profd toggle window')
  h.note('^profd: :Profd toggle takes `buffer`, or nothing: then it is for all$')
end)

local function signs()
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, require('profd.hints').namespace, 0, -1, { details = true })) do
    found[mark[2] + 1] = mark[4].sign_text and vim.trim(mark[4].sign_text)
  end
  return found
end

test('signs are as high as a line is hot, where they are asked for', function()
  h.equal(signs(), {})
  h.setup({ signs = 'all' })
  h.eventually(function()
    return next(signs())
  end, 'signs')
  h.equal(signs()[39], '█')
  h.truthy(signs()[30] ~= '█', 'the bar of a line that costs less')
  h.setup()
  h.eventually(function()
    return next(signs()) == nil
  end, 'no signs')
end)

test('hints make room for signs where that is tight', function()
  vim.o.columns = 96
  h.setup({ signs = 'all' })
  local info
  h.eventually(function()
    info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
    local hints, all_fit = h.hints() or {}, true
    for line, hint in pairs(hints) do
      local width = vim.fn.strdisplaywidth(vim.fn.getline(line)) + 1 + vim.fn.strdisplaywidth(hint.full)
      all_fit = all_fit and (info.textoff + width <= info.width or hint.text:match('^[%d.]+ %%$') ~= nil)
    end
    return info.textoff >= 2 and next(hints) and all_fit
  end, 'hints that end inside of the window')
  vim.o.columns = 160
  h.setup()
end)

test('colours that are the users own stay, whatever scheme and background come', function()
  vim.api.nvim_set_hl(0, 'ProfdHeat10', { fg = '#112233', bg = '#445566' })
  vim.api.nvim_create_autocmd('ColorScheme', {
    once = true,
    callback = function()
      vim.api.nvim_set_hl(0, 'ProfdHeat9', { link = 'Search' })
    end,
  })
  require('profd.heat').apply()
  h.equal(vim.api.nvim_get_hl(0, { name = 'ProfdHeat10' }).bg, 0x445566)
  vim.cmd.colorscheme('default')
  require('profd.heat').apply()
  h.equal(vim.api.nvim_get_hl(0, { name = 'ProfdHeat9' }).link, 'Search')
  local before = vim.api.nvim_get_hl(0, { name = 'ProfdHeat5' })
  require('profd').setup({ cmd = h.cmd, colors = { heat = '#00aa00' } })
  h.truthy(
    vim.api.nvim_get_hl(0, { name = 'ProfdHeat5' }).bg ~= before.bg,
    'what is not their own follows the settings'
  )
  require('profd').setup({ cmd = h.cmd })
  vim.cmd.colorscheme('default')
end)

test('places are picked, and gone to', function()
  local select, seen, prompt = vim.ui.select, nil, nil
  vim.ui.select = function(items, opts, done)
    prompt, seen = opts.prompt, vim.tbl_map(opts.format_item, items)
    done(items[1])
  end
  vim.cmd('Profd pick line')
  h.eventually(function()
    return seen
  end, 'the picker')
  vim.ui.select = select
  h.matches(prompt, '^profd: cpu of cpu%.pprof, total')
  h.matches(seen[1], '%.go:%d+$')
  local file, line = seen[1]:match('([%w_]+%.go):(%d+)$')
  h.equal({ vim.fs.basename(vim.api.nvim_buf_get_name(0)), cursor() }, { file, tonumber(line) })
end)

test('a picker that fails gives way to the one that is always there', function()
  package.preload['snacks'] = function()
    return { picker = {} }
  end
  local select, seen = vim.ui.select, nil
  vim.ui.select = function(items)
    seen = items
  end
  vim.cmd('Profd pick')
  h.eventually(function()
    return seen
  end, 'the picker')
  vim.ui.select = select
  package.preload['snacks'], package.loaded['snacks'] = nil, nil
  h.truthy(#seen > 0)
end)

test('every subcommand has a name to map', function()
  local takes_more = { aggregate = true, open = true, next = true, prev = true, hottest = true, ['record!'] = true }
  for name in pairs(require('profd.commands').subcommands) do
    if not takes_more[name] then
      h.matches(vim.fn.maparg(('<Plug>(profd-%s)'):format(name), 'n'), 'Profd ' .. name, name)
    end
  end
end)

test('K is a key of buffers with costs alone, and can be left to others', function()
  vim.cmd.edit(root .. '/digest.go')
  local client = require('profd.client')
  h.truthy(client.get().server_capabilities.hoverProvider)
  h.eventually(function()
    return vim.fn.maparg('K', 'n', false, true).buffer == 1
  end, 'K in the buffer')
  vim.cmd.enew()
  h.equal(vim.fn.maparg('K', 'n'), '', 'elsewhere it is what it was')
  client.stop()
  vim.cmd.bwipeout(root .. '/digest.go')
  h.setup({ hover = false })
  vim.cmd.edit(root .. '/digest.go')
  vim.cmd('Profd open ' .. root .. '/cpu.pprof')
  h.hint(15, '^11%.3 %%')
  h.equal(vim.fn.maparg('K', 'n'), '')
end)
