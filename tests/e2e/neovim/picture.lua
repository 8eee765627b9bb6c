-- What docs/images/neovim.png shows: the hints of a file, and the hover of a line.
vim.cmd.colorscheme(vim.env.PICTURE_SCHEME or 'default')
vim.o.background = vim.env.PICTURE_BACKGROUND or 'dark'
vim.o.number = true
vim.o.signcolumn = 'no'
vim.o.tabstop = 4
vim.o.wrap = false
vim.o.laststatus = 2
vim.o.shortmess = vim.o.shortmess .. 'F'
vim.cmd('syntax on')
vim.cmd('filetype on')
require('profd').setup({ cmd = { 'profd', 'connect', '--idle-timeout', '1' } })
vim.cmd.edit(vim.env.PICTURE_FILE or 'report.go')
vim.cmd('Profd open cpu.pprof')
vim.api.nvim_create_autocmd('User', {
  pattern = 'ProfdHints',
  once = true,
  callback = function()
    vim.schedule(function()
      local command = vim.env.PICTURE_COMMAND or 'hover'
      vim.fn.winrestview({ topline = tonumber(vim.env.PICTURE_TOP or '64') })
      vim.api.nvim_win_set_cursor(0, { tonumber(vim.env.PICTURE_LINE or '69'), 0 })
      if command == '' then
        vim.g.ready = 1
        return
      end
      local before = #vim.api.nvim_list_wins()
      vim.cmd('Profd ' .. command)
      local timer = assert(vim.uv.new_timer())
      timer:start(20, 20, function()
        vim.schedule(function()
          if #vim.api.nvim_list_wins() > before and not timer:is_closing() then
            timer:close()
            vim.cmd("echo ''")
            vim.g.ready = 1
          end
        end)
      end)
    end)
  end,
})
