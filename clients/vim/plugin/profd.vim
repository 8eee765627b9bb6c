vim9script
# What lines cost, from profiles, in Vim 9. Loads nothing but this until it is used.

if exists('g:loaded_profd')
  finish
endif
g:loaded_profd = 1

if !has('patch-9.0.0438') || !has('job') || !has('channel') || !has('textprop') || !has('popupwin')
  command -nargs=* Profd echoerr 'profd needs Vim 9.0.0438 or newer, with +job, +channel, +textprop and +popupwin'
  finish
endif

command -bar -nargs=* -complete=customlist,profd#Complete Profd profd#Command(<f-args>)
nnoremap <silent> <Plug>(profd-hover) <Cmd>Profd hover<CR>
nnoremap <silent> <Plug>(profd-actions) <Cmd>Profd actions<CR>

highlight default link ProfdHint Comment
highlight default link ProfdHover Normal

# Projects that list profiles are started with their first file.
if get(g:, 'profd_auto_start', true)
  augroup profd_auto_start
    autocmd!
    autocmd BufReadPost * profd#AutoStart(str2nr(expand('<abuf>')))
  augroup END
endif
