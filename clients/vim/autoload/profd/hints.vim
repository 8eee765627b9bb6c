vim9script
# What lines cost, as virtual text at their ends.

import autoload './rpc.vim'
import autoload './uri.vim'

const TYPE = 'profd-hint'
export var shown = true

def Clear(buffer: number)
  if !empty(prop_type_get(TYPE))
    prop_remove({type: TYPE, bufnr: buffer, all: true})
  endif
enddef

def Draw(buffer: number, tick: number, hints: any)
  # Text that changed since is asked about again.
  if !bufloaded(buffer) || getbufvar(buffer, 'changedtick') != tick
    return
  endif
  if empty(prop_type_get(TYPE))
    prop_type_add(TYPE, {highlight: 'ProfdHint'})
  endif
  Clear(buffer)
  if !shown || type(hints) != v:t_list
    return
  endif
  const lines = getbufinfo(buffer)[0].linecount
  for hint in hints
    const line = hint.position.line + 1
    if line <= lines
      const label = type(hint.label) == v:t_list ? join(mapnew(hint.label, (_, part) => part.value), '') : hint.label
      prop_add(line, 0, {type: TYPE, bufnr: buffer, text: label, text_align: 'after', text_padding_left: 2})
    endif
  endfor
enddef

export def Ask(buffer: number)
  if !shown
    Clear(buffer)
    return
  endif
  const tick = getbufvar(buffer, 'changedtick')
  rpc.Request('textDocument/inlayHint', {
    textDocument: {uri: uri.Of(fnamemodify(bufname(buffer), ':p'))},
    range: {start: {line: 0, character: 0}, end: {line: getbufinfo(buffer)[0].linecount, character: 0}},
  }, (hints) => Draw(buffer, tick, hints), (_) => Draw(buffer, tick, []))
enddef

export def Toggle(buffers: list<number>)
  shown = !shown
  for buffer in buffers
    Ask(buffer)
  endfor
enddef

export def Forget(buffers: list<number>)
  for buffer in buffers
    if bufloaded(buffer)
      Clear(buffer)
    endif
  endfor
enddef
