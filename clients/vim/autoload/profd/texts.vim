vim9script
# Texts that the daemon has, and what became of them since: line by line, so that numbers stay with the lines that were not touched.

# By buffer: the version and lines that were sent last; of each line that it has now, which of those it is, -1 for another one; and
# the listener that keeps that.
var sent: dict<dict<any>> = {}

export def Has(buffer: number): bool
  return has_key(sent, buffer)
enddef

export def Buffers(): list<number>
  return mapnew(keys(sent), (_, key) => str2nr(key))
enddef

export def Version(buffer: number): number
  return sent[buffer].version
enddef

def Text(lines: list<string>): string
  return empty(lines) ? '' : join(lines, "\n") .. "\n"
enddef

def Touched(buffer: number, _start: number, _end: number, _added: number, changes: list<dict<number>>)
  if !has_key(sent, buffer)
    return
  endif
  var kept: list<number> = sent[buffer].kept
  for change in changes
    kept = slice(kept, 0, change.lnum - 1) + repeat([-1], change.end - change.lnum + change.added) + slice(kept, change.end - 1)
  endfor
  sent[buffer].kept = kept
enddef

# The whole text.
export def Begin(buffer: number): string
  const lines = getbufline(buffer, 1, '$')
  sent[buffer] = {version: 1, lines: lines, kept: range(len(lines)), listener: listener_add(Touched, buffer)}
  return Text(lines)
enddef

export def End(buffer: number)
  listener_remove(sent[buffer].listener)
  remove(sent, buffer)
enddef

export def EndAll()
  for buffer in Buffers()
    End(buffer)
  endfor
enddef

# What changed since it was sent, as LSP has it, from the end of the text to its beginning.
export def Changes(buffer: number): list<dict<any>>
  listener_flush(buffer)
  const before: list<string> = sent[buffer].lines
  const after = getbufline(buffer, 1, '$')
  var kept: list<number> = sent[buffer].kept
  if len(kept) != len(after)
    kept = repeat([-1], len(after))
  endif
  var changes: list<dict<any>> = []
  var old = 0
  var new = 0
  for i in range(len(after) + 1)
    const same = i < len(after) ? kept[i] : len(before)
    if same < 0
      continue
    endif
    if slice(before, old, same) != slice(after, new, i)
      insert(changes, {
        range: {start: {line: old, character: 0}, end: {line: same, character: 0}}, text: Text(slice(after, new, i))})
    endif
    old = same + 1
    new = i + 1
  endfor
  if !empty(changes)
    sent[buffer].version += 1
    sent[buffer].lines = after
  endif
  sent[buffer].kept = range(len(after))
  return changes
enddef

defcompile
