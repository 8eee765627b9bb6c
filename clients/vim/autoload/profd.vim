vim9script
# The commands, and what connects Vim's buffers with the daemon: it computes and words everything, this places it.

import autoload './profd/hints.vim'
import autoload './profd/rpc.vim'
import autoload './profd/texts.vim'
import autoload './profd/uri.vim'

# Milliseconds of silence after which a changed text is sent.
const TYPING_MS = 150
# Hovers that are wider are hard to read.
const MOST_COLUMNS = 100
# Larger files are no sources that anybody measured.
const MOST_BYTES = 4 * 1024 * 1024

var typing: dict<number> = {}

def Say(text: string)
  echomsg 'profd: ' .. substitute(text, '[[:cntrl:]]', ' ', 'g')
enddef

def Warn(text: any)
  echohl WarningMsg
  Say(text)
  echohl None
enddef

# Buffers and what the daemon knows of them.

def Uri(buffer: number): string
  return uri.Of(fnamemodify(bufname(buffer), ':p'))
enddef

def IsSource(buffer: number): bool
  return bufloaded(buffer) && empty(getbufvar(buffer, '&buftype')) && !empty(bufname(buffer))
    && !getbufvar(buffer, 'profd_page', false) && bufname(buffer) !~ '^\a\+://'
    && !isdirectory(bufname(buffer)) && getfsize(bufname(buffer)) <= MOST_BYTES
enddef

def Attach(buffer: number)
  if !rpc.Running() || !IsSource(buffer)
    return
  endif
  if texts.Has(buffer)
    Changed(buffer)
    return
  endif
  rpc.Notify('textDocument/didOpen', {textDocument: {
    uri: Uri(buffer), languageId: getbufvar(buffer, '&filetype'), version: 1, text: texts.Begin(buffer)}})
  hints.Ask(buffer)
enddef

def Detach(buffer: number)
  if texts.Has(buffer)
    texts.End(buffer)
    rpc.Notify('textDocument/didClose', {textDocument: {uri: Uri(buffer)}})
  endif
enddef

def Changed(buffer: number)
  if !texts.Has(buffer) || !bufloaded(buffer)
    return
  endif
  const changes = texts.Changes(buffer)
  if !empty(changes)
    rpc.Notify('textDocument/didChange', {
      textDocument: {uri: Uri(buffer), version: texts.Version(buffer)}, contentChanges: changes})
    hints.Ask(buffer)
  endif
enddef

# Of each keystroke the texts move by themselves; the daemon is asked when the typing rests.
def Typed(buffer: number)
  if texts.Has(buffer)
    timer_stop(get(typing, buffer, 0))
    typing[buffer] = timer_start(TYPING_MS, (_) => Changed(buffer))
  endif
enddef

def Watch()
  augroup profd
    autocmd!
    autocmd BufEnter,BufReadPost,FileType * Attach(str2nr(expand('<abuf>')))
    autocmd BufUnload,BufFilePre * Detach(str2nr(expand('<abuf>')))
    autocmd BufFilePost * Attach(str2nr(expand('<abuf>')))
    autocmd TextChanged,TextChangedI,TextChangedP * Typed(str2nr(expand('<abuf>')))
    autocmd BufWritePost * Changed(str2nr(expand('<abuf>')))
    autocmd VimLeavePre * rpc.Stop()
  augroup END
enddef

# What the daemon asks.

def ShowDocument(params: dict<any>): dict<bool>
  if get(params, 'external', false)
    # Of what a daemon names, only pages of this machine are opened.
    if params.uri !~ '^http://\%(127\.0\.0\.1\|localhost\|\[::1\]\)[:/]'
      return {success: false}
    endif
    const opener = get(g:, 'profd_browser', has('mac') ? ['open'] : ['xdg-open'])
    const started = job_start(opener + [params.uri], {in_io: 'null', out_io: 'null', err_io: 'null'})
    if job_status(started) == 'fail'
      Warn('the page cannot be opened by ' .. opener[0] .. '; g:profd_browser says by what: ' .. params.uri)
    endif
    return {success: true}
  endif
  const path = uri.Path(params.uri)
  if empty(path)
    return {success: false}
  endif
  timer_start(0, (_) => Open(path, get(params, 'selection', {})))
  return {success: true}
enddef

# Pages of the daemon are in its own folder; all else is a source.
def Open(path: string, selection: dict<any>)
  const is_page = fnamemodify(path, ':h:t') =~ '^profd\%(-\d\+\)\?$' && fnamemodify(path, ':e') =~ '^\%(md\|s\)$'
  if is_page
    const window = bufwinid(path)
    if window != -1
      win_gotoid(window)
      silent edit!
    else
      execute 'silent botright split ' .. fnameescape(path)
    endif
    setlocal readonly nomodifiable nobuflisted noswapfile nowrap nospell nonumber norelativenumber bufhidden=wipe
    # The name of the file says nothing to a person but its beginning.
    &l:statusline = 'profd: ' .. matchstr(fnamemodify(path, ':t'), '^\a\+') .. '%=q closes  %l/%L '
    b:profd_page = true
    nnoremap <buffer> <silent> q <Cmd>close<CR>
  else
    execute 'silent edit ' .. fnameescape(path)
  endif
  if !empty(selection)
    cursor(selection.start.line + 1, selection.start.character + 1)
  endif
enddef

def Refresh(_params: any): any
  for buffer in texts.Buffers()
    hints.Ask(buffer)
  endfor
  return v:null
enddef

def ShowMessage(params: dict<any>): any
  timer_start(0, (_) => params.type <= 2 ? Warn(params.message) : Say(params.message))
  return v:null
enddef

def Ended(params: dict<any>): any
  hints.Forget(texts.Buffers())
  texts.EndAll()
  Warn('the daemon ended' .. (empty(params.reason) ? '' : ': ' .. params.reason) .. '; :Profd start begins anew')
  return v:null
enddef

# The project's root: where .profd.toml is, else its repository, else the working directory.
def RootOf(path: string): string
  const from = fnamemodify(path, ':p:h')
  const settings = findfile('.profd.toml', fnameescape(from) .. ';')
  if !empty(settings)
    return fnamemodify(settings, ':p:h')
  endif
  const repository = finddir('.git', fnameescape(from) .. ';')
  return empty(repository) ? getcwd() : fnamemodify(repository, ':p:h:h')
enddef

def Ready(_answer: dict<any>)
  Watch()
  for info in getbufinfo({bufloaded: true})
    Attach(info.bufnr)
  endfor
enddef

def Start()
  if rpc.Running()
    return
  endif
  const root = RootOf(empty(bufname()) ? getcwd() .. '/.' : bufname())
  rpc.On('workspace/inlayHint/refresh', Refresh)
  rpc.On('window/showDocument', ShowDocument)
  rpc.On('window/showMessage', ShowMessage)
  rpc.On('profd.vim/ended', Ended)
  rpc.Start(get(g:, 'profd_command', ['profd', 'connect']), root, {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: string(v:versionlong)},
    rootUri: uri.Of(root),
    workspaceFolders: [{uri: uri.Of(root), name: fnamemodify(root, ':t')}],
    initializationOptions: get(g:, 'profd_settings', {}),
    capabilities: {
      general: {positionEncodings: ['utf-8']},
      textDocument: {
        hover: {contentFormat: ['plaintext']},
        inlayHint: {},
        codeAction: {codeActionLiteralSupport: {codeActionKind: {valueSet: ['']}}},
        synchronization: {didSave: true},
      },
      window: {showDocument: {support: true}},
      workspace: {inlayHint: {refreshSupport: true}, workspaceFolders: true},
    },
  }, Ready)
enddef

export def AutoStart(buffer: number)
  if !rpc.Running() && IsSource(buffer) && !empty(findfile('.profd.toml', fnameescape(fnamemodify(bufname(buffer), ':p:h')) .. ';'))
    Start()
  endif
enddef

# Commands.

def Execute(command: string, arguments: list<any>, Then: func(any) = rpc.Nothing)
  Start()
  rpc.Request('workspace/executeCommand', {command: command, arguments: arguments}, Then, Warn)
enddef

# Where the cursor is, as the commands of the daemon take it.
def Here(): string
  Changed(bufnr())
  return fnamemodify(bufname(), ':p') .. ':' .. line('.')
enddef

def Position(): dict<any>
  Changed(bufnr())
  return {textDocument: {uri: Uri(bufnr())}, position: {line: line('.') - 1, character: col('.') - 1}}
enddef

# Lines that are no wider than that, broken between words; what goes on is indented as its line and two further.
def Wrapped(lines: list<string>, width: number): list<string>
  var wrapped: list<string> = []
  for line in lines
    const indent = matchstr(line, '^\s*')
    var row = ''
    for word in split(line)
      const longer = empty(row) ? indent .. word : row .. ' ' .. word
      if !empty(row) && strdisplaywidth(longer) > width
        add(wrapped, row)
        row = indent .. '  ' .. word
      else
        row = longer
      endif
    endfor
    add(wrapped, row)
  endfor
  return wrapped
enddef

# CTRL-D and CTRL-U, where not all of it is to be seen.
def ScrollHover(popup: number, key: string): bool
  const step = get({"\<C-D>": 5, "\<C-U>": -5}, key, 0)
  const hidden = line('$', popup) - popup_getpos(popup).core_height
  if step == 0 || hidden <= 0
    return false
  endif
  popup_setoptions(popup, {firstline: max([1, min([hidden + 1, popup_getoptions(popup).firstline + step])])})
  return true
enddef

def ShowHover(hover: any)
  if type(hover) != v:t_dict
    Say('nothing was measured here')
    return
  endif
  const width = min([&columns - 5, MOST_COLUMNS])
  const lines = Wrapped(split(trim(hover.contents.value, "\n"), "\n", true), width)
  # As far left as it takes, with its border and scrollbar: Vim itself would fold the lines anew.
  const taken = max(mapnew(lines, (_, line) => strdisplaywidth(line))) + 5
  popup_atcursor(lines, {border: [], padding: [0, 1, 0, 1], highlight: 'ProfdHover', wrap: false,
    col: max([1, min([screencol(), &columns - taken + 1])]),
    borderchars: ['─', '│', '─', '│', '┌', '┐', '┘', '└'], moved: 'any', maxheight: &lines - 4,
    filter: ScrollHover, filtermode: 'n'})
enddef

def Hover()
  Start()
  rpc.Request('textDocument/hover', Position(), ShowHover, Warn)
enddef

# Measured functions of the project in the quickfix list, the hottest first.
def ListSymbols(found: any)
  const items = mapnew(type(found) == v:t_list ? found : [], (_, symbol) => ({
    filename: uri.Path(symbol.location.uri), lnum: symbol.location.range.start.line + 1, text: symbol.name}))
  if empty(items)
    Say('no measured function of the project is called so')
    return
  endif
  setqflist([], ' ', {title: 'profd: the hottest functions', items: items})
  botright copen
enddef

def Hotspots(query: string)
  Start()
  rpc.Request('workspace/symbol', {query: query}, ListSymbols, Warn)
enddef

# What can be asked of the line, to choose from.
def Chosen(actions: list<any>, _popup: number, chosen: number)
  if chosen > 0
    const action = actions[chosen - 1]
    const command = type(action.command) == v:t_dict ? action.command : action
    Execute(command.command, get(command, 'arguments', []))
  endif
enddef

def ShowActions(found: any)
  if type(found) != v:t_list || empty(found)
    Say('nothing was measured here')
    return
  endif
  popup_menu(mapnew(found, (_, action) => action.title), {callback: function(Chosen, [found])})
enddef

def Actions()
  Start()
  const at = Position()
  const range = {start: at.position, end: at.position}
  rpc.Request('textDocument/codeAction', {textDocument: at.textDocument, range: range, context: {diagnostics: []}},
    ShowActions, Warn)
enddef

def Stop()
  hints.Forget(texts.Buffers())
  texts.EndAll()
  rpc.Stop()
enddef

def Compare(before: string)
  Execute('profd.compare', empty(before) ? [] : [before])
enddef

# What the numbers are of from now on.
def SayShown(_answer: any)
  rpc.Request('profile/list', {}, (list) => {
    for profile in list.profiles
      if get(profile, 'default', false)
        Say($'{profile.name}: {get(profile, 'metric', '')} {get(get(profile, 'total', {}), 'text', '')}')
      endif
    endfor
  })
enddef

const COMMANDS: dict<func> = {
  start: (_) => Start(),
  stop: (_) => Stop(),
  open: (words) => Execute('profd.open', [uri.Of(fnamemodify(words[0], ':p'))], SayShown),
  close: (_) => Execute('profd.close', []),
  reload: (_) => Execute('profd.reload', []),
  metric: (words) => Execute('profd.metric', words, SayShown),
  select: (words) => Execute('profd.select', [join(words)], SayShown),
  hover: (_) => Hover(),
  hotspots: (words) => Hotspots(join(words)),
  callers: (_) => Execute('profd.callers', [Here()]),
  within: (_) => Execute('profd.within', [Here()]),
  changes: (words) => Compare(get(words, 0, '')),
  flame: (_) => Execute('profd.openInBrowser', [{function: Here()}]),
  browse: (_) => Execute('profd.openInBrowser', []),
  summary: (_) => Execute('profd.summary', []),
  actions: (_) => Actions(),
  toggle: (_) => hints.Toggle(texts.Buffers()),
}
const NEEDS_A_WORD = ['open', 'metric', 'select']

export def Command(...words: list<string>)
  const name = get(words, 0, 'actions')
  if !has_key(COMMANDS, name)
    Warn($'no command {name}; there are {join(sort(keys(COMMANDS)), ", ")}')
  elseif index(NEEDS_A_WORD, name) >= 0 && len(words) < 2
    Warn($':Profd {name} needs a word more')
  else
    call(COMMANDS[name], [words[1 : ]])
  endif
enddef

export def Complete(lead: string, line: string, _position: number): list<string>
  const words = split(line, '\s\+', true)
  if len(words) <= 2
    return filter(sort(keys(COMMANDS)), (_, name) => stridx(name, lead) == 0)
  elseif words[1] == 'open'
    return getcompletion(lead, 'file')
  endif
  return []
enddef

defcompile
