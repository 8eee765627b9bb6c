vim9script
# File names as URIs, and back.

export def Of(path: string): string
  return 'file://' .. substitute(path, '[^A-Za-z0-9/._~-]', (m) => Escaped(m[0]), 'g')
enddef

def Escaped(character: string): string
  var out = ''
  for i in range(strlen(character))
    out ..= printf('%%%02X', char2nr(strpart(character, i, 1)))
  endfor
  return out
enddef

# '' where it names no file.
export def Path(uri: string): string
  if uri !~ '^file:///' || uri =~ '%00'
    return ''
  endif
  # Bytes can only be written in a string that is read; there is nothing but hexadecimal digits in it.
  return substitute(strpart(uri, strlen('file://')), '\%(%\x\x\)\+',
    (m) => eval('"' .. substitute(m[0], '%', '\\x', 'g') .. '"'), 'g')
enddef
