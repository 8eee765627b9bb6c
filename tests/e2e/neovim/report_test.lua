-- A profile as a report: functions, and where within them their cost is.
local h = require('harness')

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

local function shown(pattern)
  return h.eventually(function()
    return vim.bo.filetype == 'profd-report' and text():find(pattern) and text()
  end, 'a report like ' .. pattern .. '; there is\n' .. text())
end

local function go_to(pattern)
  local line = vim.fn.search(pattern, 'w')
  assert(line > 0, 'no line like ' .. pattern .. ' in\n' .. text())
end

test('the report has sections, functions and what is below the cut', function()
  local root = h.project('report')
  vim.cmd.cd(root)
  h.setup()
  vim.cmd.edit('digest.go')
  vim.cmd('Profd open cpu.pprof')
  h.eventually(function()
    return require('profd.session').profile
  end, 'the profile')
  vim.cmd('Profd report')
  local all = shown('%(cumulative%)')
  h.matches(all, '^cpu of cpu%.pprof\n')
  h.matches(all, '\n%% of native code %(%% of total%) %(cpu%) %(cumulative%)\n')
  h.matches(all, '\n *1%.08%% %( 1%.08%%%) main%.editsFrom %(90%.0 ms%) %(53%.96%%%)\n')
  h.matches(all, '%.%.%.others%.%.%. %d+ functions')
end)

test('<Tab> shows the lines of every function, and <CR> goes to them', function()
  go_to('main\\.editsFrom')
  vim.api.nvim_feedkeys(vim.keycode('<Tab>'), 'x', false)
  shown('\n    *%d+%.%d+%% report%.go:%d+ ')
  -- The cursor is at its function still.
  h.matches(vim.api.nvim_get_current_line(), 'main%.editsFrom')
  go_to('report\\.go:\\d')
  local line = tonumber(vim.api.nvim_get_current_line():match('report%.go:(%d+)'))
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'x', false)
  h.matches(vim.api.nvim_buf_get_name(0), 'report%.go$')
  h.equal(vim.api.nvim_win_get_cursor(0)[1], line)
end)

test('within the function of the cursor, by its line in the source', function()
  vim.cmd('wincmd o')
  vim.cmd.edit('digest.go')
  vim.fn.search('^func sign')
  vim.fn.search('sha256.Sum256')
  vim.cmd('Profd within')
  local all = shown('main%.sign')
  h.matches(all, '\n    *%d+%.%d+%% digest%.go:%d+ ')
  vim.cmd('close')
end)

test('one function is shown alone, and what is not called so is said', function()
  vim.cmd('Profd report sign')
  local all = shown('main%.sign')
  h.matches(all, '\n    *%d+%.%d+%% digest%.go:%d+ ')
  local functions = 0
  for _ in all:gmatch('\n *[%d.]+%% %(') do
    functions = functions + 1
  end
  h.equal(functions, 1)
  vim.cmd('close')
  vim.cmd('Profd report nobody_is_called_so')
  h.eventually(function()
    return table.concat(h.notes, '\n'):find('nobody_is_called_so')
  end, 'a sentence')
end)

test('a hover says the tips that its function has to do with', function()
  vim.cmd('wincmd o')
  vim.cmd.edit('parse.go')
  vim.fn.search('^func parseOrder(')
  vim.cmd('Profd hover')
  local window = h.eventually(function()
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= '' then
        return win
      end
    end
  end, 'a hover')
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
  h.matches(
    table.concat(lines, '\n'),
    '\nTip: Allocating and freeing memory is 12%.5 %% of CPU time, 4%.1 %% from main%.parseOrder%.'
  )
end)

test('so does the first glance, with what helps', function()
  vim.cmd('Profd summary')
  h.eventually(function()
    return vim.api.nvim_buf_get_name(0):find('profd://summary')
  end, 'the summary')
  h.matches(
    text():gsub('%s+', ' '),
    ' Tips Allocating and freeing memory is 12%.5 %% .* saves at most 12%.5 %% .* Reuse buffers'
  )
end)

test('records of several contexts: pairs of two roles, and a role as a profile', function()
  vim.cmd('Profd open ' .. h.source .. '/formats/easyview/testdata/reuse.ezview')
  local session = require('profd.session')
  h.eventually(function()
    return session.name == 'reuse.ezview'
  end, 'the profile')
  vim.cmd('Profd correlate allocation use')
  h.eventually(function()
    return vim.bo.filetype == 'profd-correlate'
  end, 'the pairs')
  -- As docs/analyses/correlate.md has it.
  h.matches(text(), '^counts of reuse%.ezview: 8\n75%.0 %% of counts has allocation and use meeting in main:')
  h.matches(text(), '\nPairs of allocation and use\n.*\n +75%.0 %% +6  make +work +main\n')
  go_to('allocation')
  vim.fn.search('^  allocation')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'x', false)
  h.eventually(function()
    return session.name ~= 'reuse.ezview' and session.profile
  end, 'the role')
end)
