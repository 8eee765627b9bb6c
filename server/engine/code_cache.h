// CodeCache: code that was shown lately, with what it is, so that it is not read and decoded again for
// another metric, filter or syntax of lines. An answer holds as long as the files that it was made of are the
// same. Only what has lines is kept: debug files of the rest may come any time. Safe from any thread.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/engine/symbol_files.h"

namespace profd {

struct CodeAnswer;
struct CodeQuestion;

class CodeCache {
 public:
  // The key has all that an answer depends on but the content of files.
  static std::string key_of(const CodeQuestion& question, const SymbolPlaces& places);

  // Null where there is none that still holds.
  std::shared_ptr<const CodeAnswer> find(const std::string& key);
  void keep(std::string key, std::shared_ptr<const CodeAnswer> answer, std::vector<SymbolSearch::Used> used);

  // Together they take some MB: an instruction with its text and tables is about 200 bytes.
  static constexpr std::size_t kMostInstructions = 100'000;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const CodeAnswer> answer;
    std::vector<SymbolSearch::Used> used;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // what was asked for last is first
};

}  // namespace profd
