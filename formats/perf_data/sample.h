// The body of a sample, and the identification that ends every other record of the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/perf_data/attr.h"
#include "formats/support/byte_cursor.h"

namespace profd::perf_data {

struct ReadValue {
  std::uint64_t value = 0, id = 0;
};

struct Sample {
  std::uint64_t ip = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::uint32_t cpu = 0;
  std::uint64_t period = 0;
  std::vector<ReadValue> values;    // of READ; with ids in the group format
  ByteCursor raw;                   // the fields of a tracepoint
  std::uint64_t n_chain = 0;        // entries in `chain`
  ByteCursor chain;                 // u64 each, innermost first
  std::uint64_t n_branches = 0;     // entries in `branches`
  ByteCursor branches;              // {from, to, flags} each, newest first
  std::uint64_t user_ip = 0;        // from the registers of --call-graph dwarf; 0 none
  std::uint64_t registers_abi = 0;  // 0: there are none
  ByteCursor registers;             // u64 for each bit of the attr's mask, from the lowest up
  ByteCursor stack;                 // the copy of the user stack, which begins at the stack pointer
};

// What the attr's architecture calls the instruction pointer, by perf's register numbers; kNoRegister when
// unknown.
inline constexpr unsigned kNoRegister = 64;
unsigned ip_register(std::string_view arch);

// `in` is the record without its header. False when the fields do not fit.
bool parse_sample(ByteCursor in, const Attr& attr, unsigned ip_register, Sample& out);

// Where the id of the event stands from the start of a sample, in bytes; kNowhere when no id is written. The
// same for all events of a file that has several.
inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
std::size_t id_position(std::uint64_t sample_type);
// The same of the time, from the end for any other record.
std::size_t time_position(std::uint64_t sample_type);
std::size_t time_position_from_end(std::uint64_t sample_type);
// And of {pid, tid} in any other record; kNowhere when they are not written.
std::size_t thread_position_from_end(std::uint64_t sample_type);

}  // namespace profd::perf_data
