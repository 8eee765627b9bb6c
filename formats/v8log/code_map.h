// Which code lies at an address: what V8 compiled, as it comes, moves and goes, and the libraries of the
// process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"

namespace profd::v8log {

struct Code {
  FunctionId function;
  FrameKind kind = FrameKind::native;
  bool is_function = false;    // of a script, not a stub
  std::string_view positions;  // "C0O12C4O30": code offset, source offset
  std::uint32_t script = kNone;
};

struct Found {
  std::uint32_t code = kNone;  // into codes
  std::uint32_t library = kNone;
  std::uint64_t offset = 0;  // from the beginning of the code
};

class CodeMap {
 public:
  struct Library {
    std::uint64_t start, end;
    ModuleId module;
    FunctionId function;
  };

  // What lay there before is gone.
  void add(std::uint64_t start, std::uint64_t size, Code code);
  bool move(std::uint64_t from, std::uint64_t to);
  bool remove(std::uint64_t start);
  Code* at(std::uint64_t start);
  void add_library(const Library& library);
  Found find(std::uint64_t address);

  const Code& code(std::uint32_t i) const { return codes_[i]; }
  const Library& library(std::uint32_t i) const { return libraries_[i]; }

 private:
  struct Range {
    std::uint64_t end;
    std::uint32_t code;
  };
  void clear(std::uint64_t start, std::uint64_t end);

  std::map<std::uint64_t, Range> ranges_;  // disjoint
  std::vector<Code> codes_;
  std::vector<Library> libraries_;
  bool sorted_ = true;
};

// Lines of scripts: source offsets in UTF-16 units to lines and columns, both from 1.
class Scripts {
 public:
  void add(std::uint32_t id, std::string_view escaped_source) { sources_[id].text = escaped_source; }
  // False when the script is not in the log.
  bool place(std::uint32_t id, std::uint32_t offset, std::uint32_t& line, std::uint32_t& column);

 private:
  struct Source {
    std::string_view text;
    std::vector<std::uint32_t> starts;  // of lines; made when first asked
  };
  std::unordered_map<std::uint32_t, Source> sources_;
};

// The source offset of the last position at or before `offset`; false when there is none.
bool source_offset(std::string_view positions, std::uint64_t offset, std::uint32_t& out);

}  // namespace profd::v8log
