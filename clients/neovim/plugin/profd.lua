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

-- A project whose .profd.toml lists profiles is annotated without being asked: the daemon reads it. Everything else loads on first use.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = vim.api.nvim_create_augroup('profd.autostart', {}),
  callback = function(event)
    require('profd.project').autostart(event.buf)
  end,
})
