// Why a recording came to nothing, and what to do next.
#pragma once

#include <string>
#include <string_view>

namespace profd {

struct RecordEnd {
  std::string_view tool;  // as --with calls it
  double seconds = 0;     // that the program ran
  bool interrupted = false;
};

// One or two sentences each: there is no file, and there is one without a sample.
std::string no_profile_text(const RecordEnd& end);
std::string no_samples_text(const RecordEnd& end);

}  // namespace profd
