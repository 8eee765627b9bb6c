// each_line: the loop of readers that go through a text line by line. Once in some megabytes it says how far
// it has come and asks whether to go on; to do so at every line would cost more than reading a short one.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/reader.h"
#include "formats/support/line_reader.h"

namespace profd {

struct LineLoop {
  std::size_t step = 8u << 20;
  // The text was cut off: a last line without its end says half a name or half a number, and is left out.
  bool cut_off = false;
};

// Gives `read` every line that `lines` has still to give. `lines` stays the caller's: it says where the line
// stands, and `read` may skip what follows.
template <class Read>
Result<void> each_line(LineReader& lines, ReadContext& context, LineLoop loop, Read&& read) {
  std::size_t told = 0;
  for (std::string_view line; lines.next(line);) {
    if (loop.cut_off && !lines.ended()) break;
    PROFD_CHECK(read(line));
    if (lines.position() - told < loop.step) continue;
    told = lines.position();
    PROFD_CHECK(context.stop.status());
    if (context.progress) context.progress(told, lines.size());
  }
  return {};
}

}  // namespace profd
