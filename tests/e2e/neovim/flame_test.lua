-- A flame graph in a buffer: every cell shows the box that the daemon laid out there.
local h = require('harness')

local client, session
local root

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function text()
  return table.concat(lines(), '\n')
end

local function shown(pattern, filetype)
  return h.eventually(function()
    return vim.bo.filetype == (filetype or 'profd-flame') and text():find(pattern) and text()
  end, ('a buffer like %s; there is\n%s'):format(pattern, text()))
end

local function keys(typed)
  vim.api.nvim_feedkeys(vim.keycode(typed), 'x', false)
end

--- Puts the cursor on a label, as a click does.
local function point_at(label)
  h.truthy(vim.fn.search('\\V' .. label, 'w') > 0, label .. ' in\n' .. text())
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = 0 })
end

local function said()
  return vim.wo.winbar:gsub('%%%%', '%%')
end

local function ask(method, params)
  params.profile = session.profile
  local result, err = h.await(function(done)
    client.request(method, params, done)
  end)
  h.equal(err, nil)
  return result
end

--- The highlight at a byte of a line of the page.
local function group_at(page, line, byte)
  for _, mark in ipairs(page.marks) do
    if mark.line == line - 1 and mark.from <= byte and byte < mark.to then
      return mark.group
    end
  end
end

test('each part of a row belongs to the box whose span covers its middle, and each box has one', function()
  root = h.project('flame')
  vim.cmd.cd(root)
  vim.o.columns, vim.o.lines = 90, 50
  h.setup()
  client, session = require('profd.client'), require('profd.session')
  vim.cmd('Profd open cpu.pprof')
  h.eventually(function()
    return session.profile
  end, 'the profile')
  local page_of = require('profd.flame_page')
  for _, case in ipairs({ { 80, 1 }, { 200, 2 }, { 33, 1 } }) do
    local width, per_cell = case[1], case[2]
    local parts = width * per_cell
    local answer = ask('view/flameGraph', {
      spec = 'top-down by function',
      viewport = { width = parts, minWidth = 1, maxBoxes = 5000 },
    })
    local about = {
      width = width,
      per_cell = per_cell,
      head = { { 'title', 'ProfdTitle' } },
      foot = {},
      zoomed = 0,
      colors = 'package',
    }
    local page = page_of.compose(answer, about)
    local scale = parts / answer.boxes.width[1]
    local expected, drawn = {}, {}
    local function cover(columns, i, id)
      local depth = columns.depth[i]
      expected[depth] = expected[depth] or {}
      for part = 0, parts - 1 do
        local middle = part + 0.5
        if columns.x[i] * scale <= middle and middle < (columns.x[i] + columns.width[i]) * scale then
          h.equal(expected[depth][part], nil, 'one box only')
          expected[depth][part] = id
          drawn[id] = true
        end
      end
    end
    for i in ipairs(answer.boxes.x) do
      cover(answer.boxes, i, i)
      h.truthy(drawn[i], 'a part for box ' .. i)
    end
    for i in ipairs(answer.remainder.x) do
      cover(answer.remainder, i, -i)
    end
    h.truthy(answer.rows > 10 and #answer.boxes.x > 50, 'a real profile')
    for depth = 0, answer.rows - 1 do
      local line = page.first + depth
      for part = 0, parts - 1 do
        local item = page_of.find(page, line, part)
        h.equal(item and (item.box or -item.joined), expected[depth][part], ('row %d, part %d'):format(depth, part))
      end
      h.equal(vim.api.nvim_strwidth(page.lines[line]), width)
    end
    -- What is drawn has the colour of its box: both halves of a cell where they are of two boxes.
    local marked, halved = 0, 0
    for depth = 1, answer.rows - 1 do
      local line, content = page.first + depth, page.lines[page.first + depth]
      for cell = 0, width - 1 do
        local byte = require('profd.cells').bytes_of(content, cell)
        local one = expected[depth][cell * per_cell]
        local other = expected[depth][cell * per_cell + per_cell - 1]
        local group = group_at(page, line, byte)
        if not one and not other then
          h.equal(group, nil)
        elseif one ~= other then
          h.matches(group, '^ProfdHalves_')
          halved = halved + 1
        elseif one < 0 then
          h.equal(group, 'ProfdBoxJoined')
        else
          h.truthy(group:find('^ProfdBox%d') or group:find('^ProfdHalves__ProfdBox%d'), group)
          marked = marked + 1
        end
      end
    end
    h.truthy(marked > 100 and (halved > 0) == (per_cell == 2), 'boxes, and halves where there are some')
  end
end)

test('it is as wide as its window, and says what is under the cursor', function()
  vim.cmd('Profd flame')
  local all = shown('main%.parseOrders')
  h.matches(all, '^cpu of cpu%.pprof, top%-down: 8%.34 s\nall')
  h.equal(vim.api.nvim_strwidth(lines()[2]), 90)
  h.matches(said(), '^ all: 8%.34 s · 100 %%')
  point_at('main.findSimilar')
  h.matches(said(), '^ main%.findSimilar: 2%.71 s · 32%.5 %%, self 0 s · 0 %%, 34%.8 %% of its parent')
  keys('l')
  h.matches(said(), '^ main%.parseOrders: 3%.11 s')
  keys('h')
  h.matches(said(), '^ main%.findSimilar')
  keys('k')
  h.matches(said(), '^ main%.handle: ')
  keys('2j') -- the widest below
  h.matches(said(), '^ main%.parseOrder: ')
  keys('20k')
  h.matches(vim.api.nvim_get_current_line(), '^cpu of')
  vim.o.columns = 160
  vim.api.nvim_exec_autocmds('VimResized', {})
  h.eventually(function()
    return vim.api.nvim_strwidth(lines()[2]) == 160
  end, 'the wider picture')
  h.matches(text(), '▌') -- halves of cells
  -- Their colours are those of both boxes, in another colour scheme too.
  vim.cmd.colorscheme('habamax')
  local halves = 0
  for name, group in pairs(vim.api.nvim_get_hl(0, {})) do
    local left, right = name:match('^ProfdHalves_(ProfdBox%w+)_(ProfdBox%w+)$')
    if left then
      halves = halves + 1
      h.equal(group.fg, vim.api.nvim_get_hl(0, { name = left }).bg)
      h.equal(group.bg, vim.api.nvim_get_hl(0, { name = right }).bg)
    end
  end
  h.truthy(halves > 3, 'groups of two halves')
  vim.cmd.colorscheme('default')
  vim.o.columns = 90
  vim.api.nvim_exec_autocmds('VimResized', {})
  h.eventually(function()
    return vim.api.nvim_strwidth(lines()[2]) == 90
  end, 'the narrower picture')
end)

test('<CR> goes closer, <BS> and 0 lead back, also faster than answers come', function()
  point_at('main.parseOrders')
  keys('<CR>')
  shown('› main%.parseOrders: 3%.11 s · 37%.3 %%')
  h.matches(said(), '^ main%.parseOrders')
  h.equal(vim.trim(lines()[3]), 'runtime.main', 'what is above it fills the width')
  keys('<BS>')
  shown('^cpu of cpu%.pprof, top%-down: 8%.34 s\n')
  h.matches(said(), '^ main%.parseOrders', 'the cursor is where it was left')
  keys('<CR><BS><CR>')
  shown('› main%.parseOrders: 3%.11 s')
  keys('0')
  shown('top%-down: 8%.34 s\n')
  -- What was joined goes closer to what it is part of.
  vim.fn.search('json.Unmarshal')
  vim.fn.search('░')
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = 0 })
  h.matches(said(), '%d+ more: .*too narrow to be drawn alone')
  keys('<CR>')
  shown('› ')
  keys('0')
  shown('top%-down: 8%.34 s\n')
end)

test('a search counts each stack once, and n finds what is too narrow, too', function()
  local input = vim.ui.input
  vim.ui.input = function(opts, done)
    h.matches(opts.prompt, 'regular expression')
    done('sha256|mallocgc')
  end
  keys('/')
  local expected = ask('view/search', { spec = 'top-down by function', pattern = 'sha256|mallocgc' })
  local found = expected.matched
  shown(vim.pesc(('/sha256|mallocgc/: %s · %s, %d names'):format(found.text, found.shareText, expected.functions)))
  shown('only in boxes%s')
  local seen = {}
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.api.nvim_exec_autocmds('CursorMoved', { buffer = 0 })
  for _ = 1, 6 do
    local before = said()
    keys('n')
    h.eventually(function()
      return said() ~= before
    end, 'the next match after ' .. before)
    h.truthy(said():find('sha256') or said():find('mallocgc'), said())
    seen[said()] = true
  end
  h.truthy(vim.tbl_count(seen) == 6, vim.inspect(seen))
  keys('0')
  vim.ui.input = function(_, done)
    done('')
  end
  keys('/')
  h.eventually(function()
    return not text():find('sha256|mallocgc', 1, true)
  end, 'the end of the search')
  vim.ui.input = function(_, done)
    done('(')
  end
  h.notes = {}
  keys('/')
  h.note('missing')
  vim.ui.input = function(_, done)
    done('')
  end
  keys('/')
  vim.ui.input = input
  h.matches(text(), '^cpu')
  shown('top%-down: 8%.34 s\nall')
end)

test('filters hold in the picture, the tree and the hints, and are undone everywhere', function()
  vim.cmd('wincmd p')
  vim.cmd.edit('digest.go')
  local source = vim.api.nvim_get_current_win()
  local before = h.hint(15, '%%').text
  vim.cmd('Profd flame')
  shown('main%.findSimilar')
  point_at('main.findSimilar')
  local told = {}
  vim.api.nvim_create_autocmd('User', {
    pattern = 'ProfdChanged',
    callback = function(event)
      told[event.data.what] = true
    end,
  })
  keys('X')
  h.eventually(function()
    return told.filters
  end, 'word that the filters are others')
  h.note('filters: drop function main%.findSimilar')
  shown('top%-down: 5%.63 s of 8%.34 s\nfilters: drop function main%.findSimilar')
  h.matches(require('profd').status(), ' · drop function main%.findSimilar$')
  h.eventually(function()
    local hints = h.hints(vim.fn.winbufnr(source))
    return hints and hints[15] and hints[15].text ~= before
  end, 'hints of what is left')
  point_at('main.sign')
  keys('x')
  shown('drop function main%.findSimilar | hide function main%.sign')
  h.matches(require('profd').status(), ' · 2 filters$')
  vim.cmd('Profd tree')
  shown('by total\nfilters: drop function main%.findSimilar | hide function main%.sign', 'profd-tree')
  keys('u')
  shown('filters: drop function main%.findSimilar\n', 'profd-tree')
  vim.cmd('Profd undo')
  shown('top%-down: 8%.34 s, by total\n', 'profd-tree')
  vim.cmd('Profd undo')
  h.note('no filter to undo')
  vim.cmd('Profd redo')
  shown('5%.63 s', 'profd-tree')
  keys('q') -- it took turns with the picture, which is of the filters of now
  shown('5%.63 s of 8%.34 s\nfilters: drop function main%.findSimilar\n')
  keys('u')
  shown('top%-down: 8%.34 s\nall')
  h.eventually(function()
    return (h.hints(vim.fn.winbufnr(source)) or {})[15] and h.hints(vim.fn.winbufnr(source))[15].text == before
  end, 'the hints of before')
end)

test('a filter is understood before it holds, whatever is typed', function()
  h.notes = {}
  vim.cmd('Profd filter keep functoin x')
  h.note('functoin')
  vim.cmd('Profd filter metric cpu')
  h.note('is no filter; :Profd metric shows another one')
  h.equal(require('profd.filters').list(), {})
  vim.cmd('Profd filter drop   function main.findSimilar')
  shown('filters: drop function main%.findSimilar\n')
  h.notes = {}
  vim.cmd('Profd filter keep function no such')
  h.note('matches nothing')
  shown('nothing passes the filters')
  -- Without one, chooses which to let go.
  local select = vim.ui.select
  vim.ui.select = function(items, _, done)
    h.equal(items, { 'drop function main.findSimilar', 'keep function "no such"' })
    done(items[2], 2)
  end
  vim.cmd('Profd filter')
  vim.ui.select = select
  shown('filters: drop function main%.findSimilar\n')
  keys('u')
  shown('nothing passes the filters')
  keys('uu')
  shown('top%-down: 8%.34 s\nall')
end)

test('f keeps the stacks with a path, quotes in names and all', function()
  point_at('json.Unmarshal')
  keys('f')
  shown('filters: keep fragment runtime%.main > .*encoding/json%.Unmarshal\n')
  keys('u')
  shown('top%-down: 8%.34 s\nall')
  h.equal(require('profd.filters').quote('a "b" \\ c\n'), '"a \\"b\\" \\\\ c\\x0a"')
end)

test('bottom-up begins where it ends, g goes to the source, y copies, ? lists the keys', function()
  keys('b')
  shown('bottom%-up: 8%.34 s\nall')
  keys('b')
  shown('top%-down: 8%.34 s\nall')
  point_at('main.sign')
  keys('y')
  h.equal(vim.fn.getreg('"'), 'main.sign')
  keys('g')
  h.eventually(function()
    return vim.api.nvim_buf_get_name(0):find('/digest%.go$')
  end, 'the source')
  h.matches(vim.api.nvim_get_current_line(), '^func sign')
  vim.cmd('Profd flame')
  shown('main%.sign')
  keys('?')
  h.matches(text(), '<CR> .*closer')
  h.matches(text(), '\n c +callers')
  keys('q')
  h.equal(vim.bo.filetype, 'profd-flame')
end)

test('boxes are coloured by package, by kind of code or by where the source is', function()
  keys('s')
  shown('\ncoloured by kind:.* compiled .*\nall')
  h.matches(text(), 'coloured by kind:.* inlined ')
  keys('s')
  shown('\ncoloured by source:.* source in the workspace .*\nall')
  keys('s')
  shown('top%-down: 8%.34 s\nall')
end)

test('each profile has its filters and its place', function()
  vim.cmd('Profd filter drop function main.findSimilar')
  shown('5%.63 s of 8%.34 s')
  h.write(root .. '/other.folded', 'main;main.findSimilar 3\nmain;b 1\n')
  vim.cmd('Profd open other.folded')
  shown('^samples of other%.folded, top%-down: 4\nall')
  vim.cmd('Profd select cpu.pprof')
  shown('5%.63 s of 8%.34 s\nfilters: drop function main%.findSimilar\n')
  keys('u')
  shown('top%-down: 8%.34 s\nall')
end)

test('a profile that is recorded again is drawn again, at the same place', function()
  vim.cmd('Profd select other.folded')
  shown('^samples of other%.folded, top%-down: 4\nall')
  point_at('main.findSimilar')
  keys('<CR>')
  shown('› main%.findSimilar: 3 · 75%.0 %%')
  h.write(root .. '/other.folded', 'main;a 10\nmain;main.findSimilar 6\nmain;b 4\n')
  shown('top%-down: 20 › main%.findSimilar: 6 · 30%.0 %%')
  h.write(root .. '/other.folded', 'main;a 10\n')
  shown('top%-down: 10 › main: 10 · 100 %%') -- as far as its names lead
  vim.cmd('Profd select cpu.pprof')
  shown('top%-down: 8%.34 s\nall')
end)

test('another metric is another picture', function()
  vim.cmd('Profd metric samples')
  shown('^samples of cpu%.pprof, top%-down: %d+\nall')
  vim.cmd('Profd metric cpu')
  shown('^cpu of cpu%.pprof, top%-down: 8%.34 s\nall')
end)

test('an answer that comes late is not drawn over a newer one', function()
  local request, late = client.request, {}
  client.request = function(method, params, answer, bufnr)
    local held = method == 'view/flameGraph' and params.spec:find('^bottom%-up')
    return request(method, params, function(...)
      local arguments = vim.F.pack_len(...)
      if held then
        late[#late + 1] = function()
          answer(vim.F.unpack_len(arguments))
        end
      else
        answer(vim.F.unpack_len(arguments))
      end
    end, bufnr)
  end
  keys('b')
  h.eventually(function()
    return #late == 1
  end, 'the answer that is held back')
  local tick = vim.api.nvim_buf_get_changedtick(0)
  keys('b')
  h.eventually(function()
    return vim.api.nvim_buf_get_changedtick(0) > tick
  end, 'the newer answer')
  client.request = request
  local drawn = text()
  late[1]()
  h.equal(text(), drawn)
  h.matches(drawn, '^cpu of cpu%.pprof, top%-down')
end)

test('a diff has both sides, what came and what went, and colours that say which', function()
  local compared = h.source .. '/tests/fixtures/compare/before-after'
  vim.cmd(('Profd diff %s/before-1.pb.gz %s/after-1.pb.gz'):format(compared, compared))
  local all = shown('13%.1 s → 13%.9 s, %+780 ms')
  h.matches(all, '%[A%] ')
  h.matches(all, '%[D%] ')
  point_at('main.parseRow')
  h.matches(said(), '^ main%.parseRow: 3%.4%d s → 4%.7%d s: %+1%.2%d s')
  local namespace = vim.api.nvim_create_namespace('profd.flame')
  local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
  local groups = {}
  for _, mark in ipairs(marks) do
    groups[mark[4].hl_group:match('^%a+')] = true
  end
  h.truthy(groups.ProfdHeat and groups.ProfdLess, vim.inspect(groups))
end)
