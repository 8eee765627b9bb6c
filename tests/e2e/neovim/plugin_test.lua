-- What the plugin does without a daemon.
local h = require('harness')

local heat = require('profd.heat')
local config = require('profd.config')

test('every level of heat can be read, on dark and on light', function()
  local themes = {
    dark = { fg = heat.rgb('#e0e2ea'), bg = heat.rgb('#14161b') },
    black = { fg = heat.rgb('#bcbcbc'), bg = heat.rgb('#000000') },
    grey = { fg = heat.rgb('#d0d0d0'), bg = heat.rgb('#3a3a3a') },
    light = { fg = heat.rgb('#14161b'), bg = heat.rgb('#e0e2ea') },
    white = { fg = heat.rgb('#000000'), bg = heat.rgb('#ffffff') },
  }
  for name, normal in pairs(themes) do
    for level = 0, 20 do
      local colors = heat.colors(level / 20, heat.rgb(config.defaults.colors.heat), normal)
      local contrast = heat.contrast(colors.fg, colors.bg)
      h.truthy(contrast >= 4.5, ('%s, heat %d/20: contrast %.2f'):format(name, level, contrast))
    end
  end
end)

test('hotter is further from the background, in one hue', function()
  local normal = { fg = heat.rgb('#e0e2ea'), bg = heat.rgb('#14161b') }
  local before = -1
  for level = 0, 10 do
    local bg = heat.colors(level / 10, heat.rgb('#f0643c'), normal).bg
    local away = math.abs(bg[1] - normal.bg[1])
    h.truthy(away > before, 'heat ' .. level)
    before = away
  end
end)

test('a heat of 0 has the first level, of 1 the last, and nothing is outside', function()
  h.equal(heat.level(0), 1)
  h.equal(heat.level(0.11), 2)
  h.equal(heat.level(1), heat.LEVELS)
  h.equal(heat.level(7), heat.LEVELS)
  h.equal(heat.level(-1), 1)
end)

test('the nearest colour of the 256 is found', function()
  h.equal(heat.cterm({ 255, 0, 0 }), 196)
  h.equal(heat.cterm({ 0, 0, 0 }), 16)
  h.equal(heat.cterm({ 9, 9, 9 }), 232)
end)

test('the colour scheme changes the heat', function()
  require('profd').setup()
  vim.o.background = 'dark'
  vim.cmd.colorscheme('default')
  local dark = vim.api.nvim_get_hl(0, { name = 'ProfdHeat5' }).bg
  vim.o.background = 'light'
  vim.cmd.colorscheme('default')
  local light = vim.api.nvim_get_hl(0, { name = 'ProfdHeat5' }).bg
  h.truthy(dark ~= light)
  h.truthy(heat.luminance(heat.rgb(light)) > heat.luminance(heat.rgb(dark)))
  vim.o.background = 'dark'
end)

test('options that are wrong are named and keep their defaults', function()
  h.equal(config.set({ threshold = 3 }), 'threshold: expected a share from 0 to 1')
  h.equal(config.current.threshold, nil)
  h.equal(config.set({ treshold = 0.1 }), 'no such option: treshold')
  h.equal(config.set({ cmd = 'profd' }), 'cmd: expected a list of strings, for example { "profd", "connect" }')
  h.equal(config.current.cmd, { 'profd', 'connect' })
  h.equal(config.set({ colors = { heat = 'red' } }), "colors: expected { heat = '#rrggbb', less = '#rrggbb' }")
  h.equal(config.set({ position = 'left' }), "position: expected 'eol' or 'right_align'")
  h.equal(config.set('loud'), 'expected a table, got string')
  h.equal(config.set({ threshold = 0.02, heat = false, position = 'right_align' }), nil)
  h.equal(config.current.threshold, 0.02)
  h.equal(config.current.heat, false)
  h.equal(config.set({}), nil)
end)

test('setup says what is wrong in one line', function()
  require('profd').setup({ align = 'yes' })
  h.equal(h.notes, { 'profd: setup: align: expected true or false; the default is used (:help profd-config)' })
  require('profd').setup()
end)

test('keys are mapped only when asked for', function()
  h.equal(vim.fn.maparg('<leader>ph', 'n'), '')
  require('profd').setup({ keymaps = { hover = '<leader>ph', hotspots = false } })
  h.equal(vim.fn.maparg('<leader>ph', 'n'), '<Cmd>Profd hover<CR>')
  vim.keymap.del('n', '<leader>ph')
  require('profd').setup()
end)

test('the shares of hints stand below each other, and stale ones are dimmed', function()
  local hints = require('profd.hint_place').compose({
    line = { 3, 7, 9 },
    text = { '34.1 %  1.24 s', '4.1 %  150 ms · self 4.0 %', '~<0.1 %  1.00 ms' },
    heat = { 1, 0.35, 0.1 },
    stale = { false, false, true },
  }, config.defaults)
  h.equal(hints[1].text, '  34.1 %  1.24 s ')
  h.equal(hints[2].text, '   4.1 %  150 ms · self 4.0 % ')
  h.equal(hints[3].text, ' ~<0.1 %  1.00 ms ')
  h.equal({ hints[1].group, hints[2].group, hints[3].group }, { 'ProfdHeat10', 'ProfdHeat4', 'ProfdStale' })
  h.equal(hints[1].number_group, nil)
  hints = require('profd.hint_place').compose(
    { line = { 3, 4 }, text = { '1.0 %  1 s', '~1.0 %  1 s' }, heat = { 0.55, 0.55 }, stale = { false, true } },
    vim.tbl_extend('force', config.defaults, { number_heat = true, heat = false })
  )
  h.equal({ hints[1].group, hints[1].number_group }, { 'ProfdHint', 'ProfdNumber6' })
  h.equal(hints[2].number_group, nil)
end)

test('a hint that would leave the window comes nearer, says less, and ends at the edge', function()
  local hints = require('profd.hint_place')
  local hint = { line = 0, text = ' 34.1 %  1.24 s · self 4.0 % ', group = 'ProfdHeat10' }
  local function place(width, columns, wrap)
    local chunks, position =
      hints.place(hint, { width = width, column = 50, columns = columns, wrap = wrap or false }, config.defaults)
    local text = ''
    for _, chunk in ipairs(chunks) do
      text = text .. chunk[1]
    end
    return text, position
  end
  h.equal({ place(40, 120) }, { (' '):rep(11) .. hint.text, 'eol' })
  h.equal({ place(40, 76) }, { (' '):rep(6) .. hint.text, 'eol' }, 'nearer')
  h.equal({ place(40, 60) }, { '    34.1 %  1.24 s ', 'eol' }, 'without self')
  h.equal({ place(48, 60) }, { '    34.1 % ', 'eol' }, 'the share alone')
  h.equal({ place(55, 60) }, { ' 34.1 % ', 'right_align' }, 'over the end of a line that fills the window')
  h.equal({ place(200, 60) }, { ' 34.1 % ', 'right_align' })
  h.equal({ place(75, 60, true) }, { ' ' .. hint.text, 'eol' }, 'a wrapped line ends in its second row')
end)

test('paths in the summary differ where the paths do', function()
  local lines = require('profd.summary').path_lines
  h.equal(lines({ { 'main', 'a', 'b' } }, 40), { 'main → a → b' })
  h.equal(lines({ { 'main', 'first', 'second', 'third' } }, 20), { '… → second → third' })
  h.equal(
    lines({
      { 'main', 'read', 'walk', 'parse', 'decode', 'copy' },
      { 'main', 'write', 'walk', 'parse', 'decode', 'copy' },
    }, 30),
    { '… → read → … → decode → copy', '… → write → … → decode → copy' }
  )
  h.equal(
    lines({ { 'main', 'x', 'parse', 'decode', 'copy' }, { 'main', 'parse', 'decode', 'copy' } }, 22),
    { '… → x → … → copy', 'main → … → copy' }
  )
end)

-- A Neovim with a screen, which would ask for a key; this one has none.
local function with_screen(body)
  local channel = vim.fn.jobstart({
    vim.env.PROFD_TEST_NVIM,
    '--embed',
    '-u',
    'NONE',
    '-i',
    'NONE',
    '-n',
    '--cmd',
    'set rtp^=' .. h.source .. '/clients/neovim',
  }, { rpc = true })
  vim.rpcrequest(channel, 'nvim_ui_attach', 60, 12, {})
  local ok, problem = pcall(body, function(code, ...)
    return vim.rpcrequest(channel, 'nvim_exec_lua', code, { ... })
  end, function()
    return vim.rpcrequest(channel, 'nvim_get_mode')
  end)
  vim.fn.jobstop(channel)
  if not ok then
    error(problem, 0)
  end
end

test('no message asks for a key, however long and however many', function()
  for _, height in ipairs({ 1, 2, 0 }) do
    with_screen(function(lua, mode)
      lua('vim.o.cmdheight = ...', height)
      for i = 1, 4 do
        -- From the loop, as messages of the server come.
        lua('local n = ...; vim.schedule(function() require("profd.log").warn(("long "):rep(60) .. n) end)', i)
        vim.wait(20)
        h.equal(mode(), { mode = 'n', blocking = false }, 'a long one, cmdheight ' .. height)
        lua('local n = ...; vim.schedule(function() require("profd.log").info("short " .. n) end)', i)
        vim.wait(20)
        h.equal(mode(), { mode = 'n', blocking = false }, 'a short one, cmdheight ' .. height)
      end
      h.matches(lua('return vim.fn.execute("messages")'), 'profd: long long.*%(:Profd log%)')
      h.matches(lua('return table.concat(require("profd.log").lines(), "|")'), ('long '):rep(60) .. '4')
    end)
  end
end)

test('control characters of a profile do not reach the screen', function()
  local hints = require('profd.hint_place').compose(
    { line = { 0 }, text = { '1.0 %\27[31m\n1 s' }, heat = { 1 }, stale = { false } },
    config.defaults
  )
  h.equal(hints[1].text, ' 1.0 % [31m 1 s ')
  h.equal(require('profd.log').one_line('a\r\n  b\27c'), 'a b c')
end)

---@param fields table
---@return profd.HoverPage
local function hover_page(fields)
  local page =
    { profile = 'p1', place = '', inlined = false, others = 0, notes = {}, rows = {}, remarks = {}, lists = {} }
  return vim.tbl_extend('error', vim.tbl_extend('force', page, fields), { foot = 'cpu.pprof' })
end

local function callers(entries, more)
  return { title = 'callers', callers = true, entries = entries, more = more or 0 }
end

test('a hover is laid out from its parts: numbers aligned, links known', function()
  local page = require('profd.hover_page').lay_out(hover_page({
    name = 'main.sign',
    place = 'digest.go:11',
    others = 2,
    notes = { 'This line changed.' },
    rows = {
      { metric = 'cpu', self = '1.24 s', total = '12.4 s', share = '34.1 %' },
      { metric = 'alloc_space | x', self = '0 B', total = '1.00 GiB', share = '4.0 %' },
    },
    remarks = { 'Counted once.' },
    lists = {
      callers(
        { { name = 'main.f', share = '99.2 %', uri = 'file:///w/a.go', line = 7 }, { name = 'g', share = '0 %' } },
        3
      ),
    },
  }))
  h.equal(page.lines, {
    'main.sign digest.go:11 and 2 more here',
    '',
    'This line changed.',
    '',
    'metric             self     total   share',
    'cpu              1.24 s    12.4 s  34.1 %',
    'alloc_space | x     0 B  1.00 GiB   4.0 %',
    '',
    'Counted once.',
    '',
    'callers: main.f 99.2 % · g 0 % · 3 more',
    '',
    'cpu.pprof',
  })
  h.equal(page.links, { { line = 11 - 1, from = 9, to = 15, uri = 'file:///w/a.go#L7' } })
  h.equal(page.marks[1], { line = 0, from = 0, to = 9, group = 'ProfdTitle' })
end)

local function hover_of(fields)
  return require('profd.hover').open_window(hover_page(fields), {})
end

test('a hover asked for again shows the new answer and is gone to', function()
  vim.cmd.enew()
  local _, first = hover_of({ name = 'main.sign.with.a.long.name', place = 'recorded 59 seconds ago' })
  local source = vim.api.nvim_get_current_win()
  h.truthy(first ~= source)
  local bufnr, second = hover_of({ name = 'main', place = 'recorded 1 min ago' })
  h.equal(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), { 'main recorded 1 min ago', '', 'cpu.pprof' })
  h.equal(vim.api.nvim_win_is_valid(first), false, 'one hover at a time')
  h.equal(vim.api.nvim_get_current_win(), second)
  vim.api.nvim_win_close(second, true)
end)

test('a list in a hover goes on below the edge of the window', function()
  vim.cmd.enew()
  local columns = vim.o.columns
  vim.o.columns = 80
  local names = {}
  for i = 1, 20 do
    names[i] = { name = ('package.function%d'):format(i), share = '1 %' }
  end
  local bufnr, window = hover_of({ lists = { callers(names) } })
  h.truthy(vim.api.nvim_win_get_width(window) < 80)
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  h.equal(lines[1], 'callers: package.function1 1 % · package.function2 1 % ·')
  h.equal(lines[2], '  package.function3 1 % · package.function4 1 % ·')
  h.equal(vim.api.nvim_win_text_height(window, {}).all, vim.api.nvim_win_get_height(window))
  vim.api.nvim_win_close(window, true)
  vim.o.columns = columns
end)

test('a link keeps its place where its list goes on below', function()
  local pages = require('profd.hover_page')
  local function named(name, line, share)
    return { name = name, share = share, uri = 'file:///w/a.go', line = line }
  end
  local page = pages.lay_out(hover_page({
    lists = { callers({ named('a.f', 7, '60 %'), named('b.g', 8, '40 %'), named('c', 9, '0 %') }) },
  }))
  local folded = pages.fold(page, 20)
  h.equal(folded.lines, { 'callers: a.f 60 % ·', '  b.g 40 % · c 0 %', '', 'cpu.pprof' })
  h.equal(folded.links, {
    { line = 0, from = 9, to = 12, uri = 'file:///w/a.go#L7' },
    { line = 1, from = 2, to = 5, uri = 'file:///w/a.go#L8' },
    { line = 1, from = 14, to = 15, uri = 'file:///w/a.go#L9' },
  })
  h.equal(pages.fold(page, 100), page)
  local wide = pages.lay_out(
    hover_page({ lists = { callers({ named('ein.sehr.langer.Name', 7, '1 %'), named('b', 8, '1 %') }) } })
  )
  h.equal(pages.fold(wide, 10).lines[1], 'callers: ein.sehr.langer.Name 1 % ·')
end)

test('markup in the names of a profile stays text', function()
  local page = require('profd.hover_page').lay_out(hover_page({
    name = 'f**[x](file:///etc/passwd)',
    place = '\\ a] [b`',
    rows = { { metric = 'x|y', self = '', total = '', share = '' } },
    lists = { callers({ { name = '[q](file:///etc/passwd)\n', share = '5 %' } }) },
  }))
  h.equal(page.lines[1], 'f**[x](file:///etc/passwd) \\ a] [b`')
  h.matches(page.lines[4], '^x|y')
  h.equal(page.lines[6], 'callers: [q](file:///etc/passwd)  5 %')
  h.equal(page.links, {})
end)

test('hot spots without a source cannot be jumped to', function()
  local amount = { value = 1, text = '1 ns', share = 0.5, shareText = '50.0 %' }
  local items = require('profd.hotspots').items({
    { name = 'main.f', uri = 'file:///w/a.go', line = 7, self = amount, total = amount },
    { name = 'runtime.g', file = '/go/g.go', line = 9, self = amount, total = amount },
  }, 'self')
  h.equal({ items[1].filename, items[1].lnum, items[1].valid }, { '/w/a.go', 7, 1 })
  h.equal({ items[2].filename, items[2].lnum, items[2].valid }, { nil, 0, 0 })
end)

test('hot spots outside the workspace are opened after asking once for all below their root', function()
  local outside = require('profd.outside')
  local hotspots = require('profd.hotspots')
  local folder = h.work .. '/elsewhere'
  vim.fn.mkdir(folder .. '/.git', 'p')
  h.write(folder .. '/g.go', 'package g\n')
  local amount = { value = 1, text = '1 ns', share = 0.5, shareText = '50.0 %' }
  local path = folder .. '/g.go'
  local place = { name = 'g', file = path, outside = path, line = 1, self = amount, total = amount }
  h.equal(hotspots.items({ place }, 'self')[1].valid, 0)
  local asked, answer = 0, 2
  local select = vim.ui.select
  vim.ui.select = function(items, opts, done)
    asked = asked + 1
    h.matches(opts.prompt, 'g%.go is outside the workspace')
    done(items[answer])
  end
  local opened = 0
  local function count()
    opened = opened + 1
  end
  outside.ask(place.outside, count)
  h.equal({ asked, opened }, { 1, 0 })
  answer = 1
  outside.ask(place.outside, count)
  outside.ask(place.outside, count)
  vim.ui.select = select
  h.equal({ asked, opened }, { 2, 2 })
  local item = hotspots.items({ place }, 'self')[1]
  h.equal({ item.filename, item.lnum, item.valid }, { place.outside, 1, 1 })
end)

test('a name that does not fit is cut by the rule of the daemon, a path at its beginning', function()
  local fit = require('profd.fit')
  h.equal(fit.name('runtime.gcDrain', { 8 }, 15), 'runtime.gcDrain')
  h.equal(fit.name('runtime.gcDrain', { 8 }, 14), 'gcDrain')
  h.equal(fit.name('runtime.gcDrain', { 8 }, 5), 'gcDr…')
  h.equal(fit.name('runtime.gcDrain', nil, 9), 'runtime.…')
  -- The places are in UTF-16 code units, widths in columns.
  h.equal(fit.name('ä𝒳::größe::日本', { 5, 12 }, 11), 'größe::日本')
  h.equal(fit.name('ä𝒳::größe::日本', { 5, 12 }, 10), '日本')
  h.equal(fit.name('ä𝒳::größe::日本', { 5, 12 }, 3), '日…')
  h.equal(fit.name('short', { 99 }, 3), 'sh…')
  h.equal(fit.sentence('the file has calls, not stacks', 12), { 'the file has', 'calls, not', 'stacks' })
  h.equal(fit.sentence('unbreakable word', 5), { 'unbreakable', 'word' })
  h.equal(fit.ending('/home/project/src/main.go', 30), '/home/project/src/main.go')
  h.equal(fit.ending('/home/project/src/main.go', 16), '…/src/main.go')
  h.equal(fit.ending('/home/project/src/main.go', 6), '…in.go')
end)

test('the command completes its subcommands and their arguments', function()
  h.equal(vim.fn.getcompletion('Profd hot', 'cmdline'), { 'hotspots', 'hottest' })
  h.equal(vim.fn.getcompletion('Profd hotspots ', 'cmdline'), { 'function', 'line' })
  h.equal(vim.fn.getcompletion('Profd close ', 'cmdline'), {})
  h.write(h.work .. '/some.pprof', '')
  h.equal(vim.fn.getcompletion('Profd open ' .. h.work .. '/so', 'cmdline'), { h.work .. '/some.pprof' })
end)

test('a wrong subcommand says which there are', function()
  vim.cmd('Profd frobnicate')
  h.equal(#h.notes, 1)
  h.matches(
    h.notes[1],
    '^profd: no such subcommand: frobnicate; one of aggregate, analyse, annotate, .*hotspots, hottest, hover, '
  )
  h.notes = {}
  vim.cmd('Profd close now')
  h.equal(h.notes, { 'profd: :Profd close takes no argument' })
  h.notes = {}
  vim.cmd('Profd open')
  h.equal(h.notes, { 'profd: :Profd open needs a file, for example :Profd open cpu.pprof' })
end)

test('a missing binary is one line that says what to do', function()
  require('profd').setup({ cmd = { 'no-such-profd', 'connect' } })
  vim.cmd('Profd open x.pprof')
  h.equal(h.notes, { 'profd: no-such-profd is not an executable; install profd or set `cmd` (:help profd-install)' })
  require('profd').setup()
end)

test('a command that ends at once is one line', function()
  require('profd').setup({ cmd = { 'false' } })
  vim.cmd('Profd hotspots')
  h.note('^profd: `false` ended at once %(exit code 1%); :Profd log says where to look$')
  h.equal(#h.notes, 1)
  require('profd').setup()
end)

test('the help is there as the plugin lies, with tags that are up to date', function()
  for _, tag in ipairs({ 'profd', ':Profd', 'profd-config', 'profd-install', 'profd-mapping', 'profd-keys' }) do
    vim.cmd('help ' .. tag)
    h.matches(vim.api.nvim_buf_get_name(0), '/doc/profd.txt$', tag)
  end
  vim.cmd('helpclose')
  local copy = h.work .. '/help'
  vim.fn.mkdir(copy .. '/doc', 'p')
  h.write(copy .. '/doc/profd.txt', h.read(h.source .. '/clients/neovim/doc/profd.txt'))
  vim.cmd('helptags ' .. copy .. '/doc')
  h.equal(h.read(h.source .. '/clients/neovim/doc/tags'), h.read(copy .. '/doc/tags'), ':helptags clients/neovim/doc')
end)
