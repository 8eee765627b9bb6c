// Opening: containers are peeled, every reader sniffs the same prefix, the best one reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "formats/reader.h"

namespace profd {

struct OpenOptions {
  std::string format;  // reader id; "" = sniff
  bool partial = false;
  // A collector that was sampled without a stack stands on the stack that ran before it, where the format
  // lets tell (V8); else it has a box of its own, as in the file.
  bool gc_on_stack = false;
  ReadLimits limits;
  // Of the one recording that is opened; may be empty, callers in copies of stacks are then not looked for.
  UnwindStacks unwind;
};

struct FormatDecision {
  std::string format;
  bool certain = false;
  std::vector<std::string> also_plausible;
  std::vector<std::string> containers;  // outermost first: "gzip", "zip: trace.json"
};

// What is opened: a file, with the folder it lies in when there is one, or all of a folder.
struct OpenInput {
  ByteSource file;
  std::shared_ptr<const Folder> beside;              // may be null
  std::shared_ptr<const Folder> folder;              // not null: `file` and `beside` are not looked at
  std::optional<ByteSource> program = std::nullopt;  // what ran, or a list of its symbols, on its user's word
};
// A file (or pipe, as far as the rule goes) or a directory.
Result<OpenInput> open_input(const std::string& path, std::uint64_t max_bytes,
                             OpenRule rule = OpenRule::anything, const StopToken& stop = {});

struct OpenedFile {
  std::vector<ProfilePtr> profiles;  // at least one; of a folder in the order of time, else of names
  FormatDecision decision;
  ImportReport report;
  bool looked_around = false;  // other files than the one that was named took part
};

// `bytes` may be compressed. A folder, or an archive, that no reader takes as a whole is a set of files: what
// is a profile is opened, the rest is counted in the report. Errors carry format, place and reason;
// `unsupported` lists what was tried when no reader claims the file.
Result<OpenedFile> open_profiles(ByteSource bytes, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

Result<OpenedFile> open_profiles(const OpenInput& input, const OpenOptions& options, Executor& executor,
                                 StopToken stop,
                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

// The one list of readers, in sniff order.
std::span<const FormatReader* const> all_readers();

}  // namespace profd
