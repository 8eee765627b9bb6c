// What both forms of a recording become: frames and threads, and sums by stack, thread and allocator.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/memray/lines.h"
#include "formats/memray/records.h"
#include "formats/reader.h"

namespace profd::memray {

struct Sums {
  std::int64_t allocated = 0, allocations = 0, peak = 0, leaked = 0;
};

class ProfileMaker {
 public:
  ProfileMaker(const Header& header, ReadContext& context, ProfileBuilder& builder);

  void add_frame(const Record& record);
  void add_code(const Record& record);
  // Of a frame that was told, or of code at an offset.
  Result<FrameId> frame(std::uint64_t id, std::uint64_t at) const;
  Result<FrameId> frame(std::uint64_t code, std::int64_t offset, std::uint64_t at);

  // Names have to be known before a thread is first asked for.
  void set_thread_names(std::unordered_map<std::uint64_t, std::string_view> names) {
    names_ = std::move(names);
  }
  ThreadId thread(std::uint64_t id);

  std::uint32_t row(ContextId context, std::uint64_t thread, Allocator allocator);
  Sums& sums(std::uint32_t row) { return sums_[row]; }
  void add_resident(std::int64_t ms, std::uint64_t bytes);

  // Every row becomes a sample.
  void finish();

 private:
  struct Code {
    FunctionId function;
    std::int64_t first_line;
    std::span<const std::byte> table;
    std::unique_ptr<LineTable> lines;  // made when first asked
    std::unordered_map<std::int64_t, FrameId> frames;
  };
  struct Row {
    ContextId context;
    std::uint64_t thread;
    Allocator allocator;
    bool operator==(const Row&) const = default;
  };
  struct RowHash {
    std::size_t operator()(const Row& row) const;
  };
  FunctionId function(const Record& record, std::int64_t first_line);

  const Header& header_;
  ProfileBuilder& builder_;
  std::unordered_map<std::uint64_t, FrameId> frames_;
  std::unordered_map<std::uint64_t, Code> codes_;
  std::unordered_map<std::uint64_t, std::string_view> names_;
  std::unordered_map<std::uint64_t, ThreadId> threads_;
  std::unordered_map<Row, std::uint32_t, RowHash> row_of_;
  std::vector<Row> rows_;
  std::vector<Sums> sums_;
  CounterId resident_;
};

Result<void> read_allocations(const ByteSource& source, ByteCursor in, const Header& header,
                              ReadContext& context, ProfileBuilder& builder);
Result<void> read_aggregated(ByteCursor in, const Header& header, ReadContext& context,
                             ProfileBuilder& builder);

}  // namespace profd::memray
