// The constant pools of a chunk: where each value lies, by class and key. Values are decoded when asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"
#include "formats/jfr/chunk.h"
#include "formats/jfr/layout.h"
#include "formats/jfr/metadata.h"

namespace profd::jfr {

class Pools {
 public:
  // Checkpoints that are cut off in an incomplete chunk end the reading without an error.
  static Result<Pools> index(const Chunk& chunk, const Metadata& metadata, const Layouts& layouts,
                             StopToken& stop);

  // Number of values of a class; rows are their numbers.
  std::size_t size(std::uint32_t cls) const { return tables_[cls].size(); }
  // The row of a key, kNone when the pool lacks it. Key 0 may be a value or stand for nothing.
  std::uint32_t row(std::uint32_t cls, std::uint64_t key) const;
  Wire value(std::uint32_t cls, std::uint32_t row) const;

  // The string a value of `cls` consists of (java.lang.String, jdk.types.Symbol, jdk.types.ThreadState, …);
  // empty when it is no string or unknown.
  std::string text(std::uint32_t cls, std::uint64_t key) const;
  std::string text(const Text& text) const;
  std::uint32_t string_class() const { return string_class_; }
  // A limit when texts were asked for so often that they outgrew the chunk; what was got since is empty. A
  // key of a byte can stand for a text as long as the file.
  Result<void> status() const;

 private:
  struct Entry {
    std::uint64_t key;
    std::uint64_t at;  // in the chunk
  };
  Text first_text(std::uint32_t cls, std::uint64_t key) const;

  std::span<const std::byte> bytes_;
  std::uint64_t base_ = 0;
  const Layouts* layouts_ = nullptr;
  std::uint32_t string_class_ = 0;
  std::vector<std::vector<Entry>> tables_;  // by class, sorted by key
  mutable std::uint64_t text_budget_ = 0;   // bytes that may still be asked for
  mutable bool over_budget_ = false;
};

}  // namespace profd::jfr
