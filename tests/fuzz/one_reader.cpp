// The list of readers of a fuzz target of one format; PROFD_FUZZ_READER is the function that makes its
// reader.
#include <memory>
#include <span>

#include "formats/reader.h"

namespace profd {

std::unique_ptr<FormatReader> PROFD_FUZZ_READER();
std::span<const FormatReader* const> all_readers();

std::span<const FormatReader* const> all_readers() {
  static const std::unique_ptr<FormatReader> reader = PROFD_FUZZ_READER();
  static const FormatReader* const list[] = {reader.get()};
  return list;
}

}  // namespace profd
