// The instructions of a part of a binary, and what they and the places that they lead to are: asked of a
// process that reads the files (profd-symbolize).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/code/rows.h"
#include "core/model/symbolize.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "server/engine/code_cache.h"
#include "server/engine/symbol_files.h"
#include "server/platform/worker_process.h"
#include "workers/code.h"

namespace profd {

struct CodeQuestion {
  std::string name, build_id;  // of the module, as the profile has them
  std::uint64_t start = 0;     // vaddr
  std::uint64_t size = 0;      // bytes; what is beyond worker::kMaxCodeSize is not looked at
  bool att = false;
  bool in_memory = false;  // made at run time: `start` is an address in memory, and the file is a dump
  std::string symbol;      // as the profile has it; tells apart what was in one place of memory
  std::string recording;   // the file of the profile; "" what the places say
};

struct FoundCode {
  std::vector<std::uint64_t> address;  // by row
  worker::CodeRows rows;
  std::vector<std::size_t> text_begin;  // by row: of its part of rows.text
  // By row and then by place of `rows`: `link` and `piece`, with the tables they are rows of.
  BinarySymbols symbols;

  CodeRows code_rows() const { return {address, rows.length, rows.kind, rows.target}; }
  std::string_view text(std::size_t row) const {
    return std::string_view(rows.text).substr(text_begin[row], rows.text_size[row]);
  }
  // What begins at a place outside of the code, as people read it: "memcpy@plt"; "" unknown.
  std::string_view name_of_place(std::uint64_t address) const;
};

struct CodeMeans {
  const SymbolPlaces& places;
  std::string program;  // profd-symbolize
  WorkerLimits limits;
  std::chrono::milliseconds patience{60'000};
  CodeCache* cache = nullptr;  // null: nothing is kept
};

struct CodeAnswer {
  FoundCode code;       // without rows where there is a problem
  std::string problem;  // why it cannot be shown, as a sentence; "" it can
  std::string note;     // what holds of all of it, as a sentence; "" nothing
  std::vector<TriedFile> tried;
  bool unchecked = false;  // SymbolSearch::unchecked()
};

// Blocks, on a worker. An error is `cancelled` alone; what files or their reader do is the answer's problem.
Result<std::shared_ptr<const CodeAnswer>> look_up_code(const CodeQuestion& question, const CodeMeans& means,
                                                       const StopToken& stop);

}  // namespace profd
