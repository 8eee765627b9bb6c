// Transcript: what was said in a proxied session, for a report of a fault. One message a line: seconds since
// the beginning, who said it to whom, its body.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd {

class Transcript {
 public:
  // Adds to the file, which is made with mode 0600: it has the texts of documents in it.
  static Result<Transcript> open(const std::string& path);
  // Writes nothing.
  Transcript() = default;

  void write(std::string_view from, std::string_view to, std::string_view body);
  // A line of its own: what happened to one of them.
  void note(std::string_view text) { write("", "", text); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace profd
