if vim.g.loaded_profd then
  return
end
vim.g.loaded_profd = true

vim.api.nvim_create_user_command('Profd', function(args)
  require('profd.commands').run(args)
end, {
  nargs = '*',
  desc = 'Profiles beside the code: :Profd open FILE',
  complete = function(lead, line, cursor)
    return require('profd.commands').complete(lead, line, cursor)
  end,
})

-- Names to map: nothing is mapped here. They load the plugin when they are used.
for name, command in pairs({
  annotate = 'annotate',
  callees = 'callees',
  callers = 'callers',
  changes = 'changes',
  clear = 'clear',
  ['clear-buffer'] = 'clear buffer',
  close = 'close',
  correlate = 'correlate',
  analyse = 'analyse',
  diff = 'diff',
  filter = 'filter',
  flame = 'flame',
  hotspots = 'hotspots',
  ['hottest-line'] = 'hottest',
  hover = 'hover',
  log = 'log',
  metric = 'metric',
  mine = 'mine',
  pick = 'pick',
  record = 'record',
  ['record-again'] = 'record!',
  recordings = 'recordings',
  redo = 'redo',
  reload = 'reload',
  report = 'report',
  select = 'select',
  sets = 'sets',
  summary = 'summary',
  timeline = 'timeline',
  toggle = 'toggle',
  tree = 'tree',
  undo = 'undo',
  ['toggle-buffer'] = 'toggle buffer',
  within = 'within',
}) do
  vim.keymap.set('n', ('<Plug>(profd-%s)'):format(name), ('<Cmd>Profd %s<CR>'):format(command), {
    desc = 'profd: ' .. command,
  })
end
for name, direction in pairs({ next = 1, prev = -1 }) do
  vim.keymap.set({ 'n', 'x', 'o' }, ('<Plug>(profd-%s-hot-line)'):format(name), function()
    require('profd.jump').hot_line(direction, vim.v.count1)
  end, { desc = ('profd: %s line with a hint'):format(name) })
end

-- A project whose .profd.toml lists profiles is annotated without being asked: the daemon reads it. Everything else loads on first use.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = vim.api.nvim_create_augroup('profd.autostart', {}),
  callback = function(event)
    require('profd.project').autostart(event.buf)
  end,
})
