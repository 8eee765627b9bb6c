// Messages of simpleperf's report-sample protobuf (cmd_report_sample.proto).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "core/support/result.h"
#include "formats/simpleperf/report_sample.fields.h"

namespace profd::simpleperf {

enum class RecordKind : std::uint8_t {
  sample = schema::record::sample,
  lost = schema::record::lost,
  file = schema::record::file,
  thread = schema::record::thread,
  meta = schema::record::meta_info,
  context_switch = schema::record::context_switch
};

// A record of the stream: its kind (0 for kinds that are not known), its bytes, where they begin in the file.
struct Record {
  std::uint8_t kind = 0;
  protobuf::Cursor body;
  std::uint64_t offset = 0;
};

// What the method of a frame was run by.
enum class Execution : std::uint8_t { native, interpreted, jit, art };

struct ChainEntry {
  std::uint64_t address = 0;  // in the file
  std::uint32_t file = 0;
  std::int32_t symbol = -1;
  Execution execution = Execution::native;
  bool operator==(const ChainEntry&) const = default;
};

struct Sample {
  std::uint64_t time = 0;
  std::int32_t thread = 0;
  std::uint64_t count = 0;
  std::uint32_t event = 0;
  bool broken_chain = false;
  std::vector<ChainEntry> chain;  // innermost first
};

struct File {
  std::uint32_t id = 0;
  std::string_view path;
  std::vector<std::string_view> symbols, mangled;
};

struct Thread {
  std::uint32_t tid = 0, pid = 0;
  std::string_view name;
};

struct Meta {
  std::vector<std::string_view> events;
  std::string_view package, app_type, sdk, build_type;
  bool trace_off_cpu = false;
};

struct Switch {
  bool on = false;
  std::uint64_t time = 0;
  std::uint32_t tid = 0;
};

struct Lost {
  std::uint64_t samples = 0, lost = 0;
};

// False when the bytes are no such message.
bool read_sample(protobuf::Cursor in, Sample& out);
bool read_file(protobuf::Cursor in, File& out);
bool read_thread(protobuf::Cursor in, Thread& out);
bool read_meta(protobuf::Cursor in, Meta& out);
bool read_switch(protobuf::Cursor in, Switch& out);
bool read_lost(protobuf::Cursor in, Lost& out);

inline constexpr std::string_view kMagic = "SIMPLEPERF";
inline constexpr std::size_t kHeaderSize = 12;

// Cuts the stream into records. The stream ends with a size of zero.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  // False at the end, and when the stream ends early or a record is no message (status() says which).
  bool next(Record& record);
  Result<void> status() const;
  std::uint64_t offset() const { return at_; }

 private:
  enum class State : std::uint8_t { reading, finished, cut, malformed };
  std::span<const std::byte> bytes_;
  std::size_t at_ = kHeaderSize;
  State state_ = State::reading;
};

}  // namespace profd::simpleperf
