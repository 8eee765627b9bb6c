// Names that do not fit: what of them to keep. One rule for every client and every kind of name: the end of a
// path, the method of a C++ name, the function of a package.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace profd {

// Places in a name (bytes, ascending, none at 0) at which its beginning may be left out: what follows still
// says what it is. "runtime.gcDrain" at "gcDrain"; "http.(*conn).serve" at "(*conn).serve" and "serve";
// "src/a/b.c" at "a/b.c" and "b.c"; "Map<…>::find" at "find"; "main.run.func1" at "run.func1"; "<built-in method time.sleep>" at
// "time.sleep>" and "sleep>". At most seven, the last ones. Who has less room than the last of them leaves shows its beginning.
std::vector<std::uint32_t> name_cuts(std::string_view name);

}  // namespace profd
