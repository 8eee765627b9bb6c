#include "formats/easyview/tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/support/parents_first.h"
#include "formats/support/text_number.h"

namespace profd::easyview {
namespace {

constexpr std::uint64_t kMaxFramesPerByte = 64;

// "PROCESS[12]_ROOT_CTXT" -> 12; false for other names.
bool root_number(std::string_view name, std::string_view kind, std::int64_t& number) {
  constexpr std::string_view kEnd = "]_ROOT_CTXT";
  if (!name.starts_with(kind) || !name.ends_with(kEnd) || name.size() <= kind.size() + kEnd.size())
    return false;
  return parse_int(name.substr(kind.size(), name.size() - kind.size() - kEnd.size()), number);
}

// hpctoolkit's converter writes "libc.so.6`malloc". MSVC's names have backticks too, after "::" or at the
// start.
std::size_t module_end(std::string_view name) {
  const std::size_t tick = name.find('`');
  if (tick == std::string_view::npos || tick == 0 || tick + 1 == name.size()) return 0;
  return name.substr(0, tick).find_first_of(": <(") == std::string_view::npos ? tick : 0;
}

bool is_unknown_file(std::string_view file) {
  return file == "<NULL>" || file == "<MISSING>" || file.starts_with("<unknown file>");
}

// Frames of a location, outermost first.
struct Functions {
  std::vector<FunctionId> id;
  std::vector<ModuleId> module;
  std::vector<bool> data_object;
  std::vector<std::int64_t> process, thread;  // number of the synthetic root that it is, else -1
};

class TreeBuilding {
 public:
  TreeBuilding(const Records& records, ReadContext& context, ProfileBuilder& builder)
      : in_(records), context_(context), builder_(builder) {}

  Result<Tree> run() {
    PROFD_CHECK(functions());
    PROFD_TRY(const std::vector<std::uint32_t> parents, link());
    const ParentsFirst sorted = parents_first(parents);
    if (sorted.on_cycle != kNone)
      return fail(ErrorCode::malformed,
                  fmt::format("context {} is its own caller", in_.context_id[sorted.on_cycle]),
                  in_.context_offset[sorted.on_cycle]);
    PROFD_CHECK(contexts(sorted.order, parents));
    report();
    return std::move(out_);
  }

 private:
  Result<void> functions() {
    const IdIndex files(in_.file_id);
    for (std::size_t i = 0; i < in_.function_id.size(); ++i) {
      PROFD_TRY(std::string_view name, string_at(in_, in_.function_name[i], "function.name"));
      PROFD_TRY(std::string_view system, string_at(in_, in_.function_system_name[i], "function.system_name"));
      std::int64_t process = -1, thread = -1;
      root_number(name, "PROCESS[", process);
      root_number(name, "THREAD[", thread);
      FunctionSpec spec;
      ModuleId module;
      if (const std::size_t end = module_end(name); end != 0) {
        module = builder_.module({name.substr(0, end)});
        if (system.substr(0, std::min(end + 1, system.size())) == name.substr(0, end + 1))
          system.remove_prefix(end + 1);
        name.remove_prefix(end + 1);
      }
      const std::uint32_t file = files.find(in_.function_file[i]);
      if (file != kNone) {
        PROFD_TRY(std::string_view path, string_at(in_, in_.file_path[file], "source_file.location_path"));
        PROFD_TRY(const std::string_view short_name, string_at(in_, in_.file_name[file], "source_file.name"));
        if (path.empty()) path = short_name;
        if (!is_unknown_file(path)) spec.file = builder_.string(path);
      } else if (in_.function_file[i] != 0) {
        ++n_unknown_files_;
      }
      spec.unresolved = name.empty() || name == "<MISSING>" || name == "<NULL>";
      spec.name = builder_.string(name.empty() ? std::string_view("(unknown)") : name);
      if (!system.empty() && system != name) spec.system_name = builder_.string(system);
      if (const std::int64_t line = in_.function_start_line[i]; line > 0 && line < kNone)
        spec.start_line = static_cast<std::uint32_t>(line);
      functions_.id.push_back(builder_.function(spec));
      functions_.module.push_back(module);
      functions_.data_object.push_back(name.starts_with("[static alloc]"));
      functions_.process.push_back(process);
      functions_.thread.push_back(thread);
    }
    return {};
  }

  // Parents as rows. parent_id is what counts; where it says nothing, the lists of children do.
  Result<std::vector<std::uint32_t>> link() {
    const std::size_t n = in_.context_id.size();
    out_.index = IdIndex(in_.context_id);
    // DrCCTProf writes a context once for every sample that needs it.
    for (std::uint32_t row = 0; out_.index.n_repeated() > 0 && row < n; ++row) {
      const std::uint32_t first = out_.index.find(in_.context_id[row]);
      if (in_.context_location[first] != in_.context_location[row] ||
          in_.context_parent[first] != in_.context_parent[row])
        ++n_repeated_;
    }
    std::vector<std::uint32_t> parents(n, kNone), listed(n, kNone);
    for (std::size_t i = 0; i < in_.child_of.size(); ++i) {
      const std::uint32_t child = out_.index.find(in_.child_id[i]);
      if (child == kNone)
        ++n_lost_children_;
      else if (listed[child] == kNone)
        listed[child] = in_.child_of[i];
      else if (in_.context_id[listed[child]] != in_.context_id[in_.child_of[i]])
        ++n_conflicts_;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const std::uint64_t id = in_.context_parent[row];
      if (id != 0) {
        parents[row] = out_.index.find(id);
        if (parents[row] == kNone) ++n_orphans_;
      }
      // Where contexts count from 0, "no parent" and "context 0" look the same.
      if (parents[row] == kNone && listed[row] != row) parents[row] = listed[row];
      if (parents[row] != kNone && listed[row] != kNone &&
          in_.context_id[listed[row]] != in_.context_id[parents[row]])
        ++n_conflicts_;
    }
    return parents;
  }

  // DrCCTProf names locations by instruction addresses, the other writers number them.
  bool ids_are_addresses() const {
    std::size_t n_real = 0;
    for (const std::uint64_t id : in_.location_id) {
      if (id == 0 || id >= std::uint64_t{1} << 63) continue;
      if (id < 4096 || id < in_.location_id.size() * 4) return false;
      ++n_real;
    }
    return n_real > 0;
  }

  Result<void> contexts(const std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& parents) {
    const IdIndex locations(in_.location_id), function_rows(in_.function_id);
    const bool addresses = ids_are_addresses();
    const std::size_t n = in_.context_id.size();
    out_.contexts.resize(n);
    out_.threads.resize(n);
    std::vector<std::int64_t> process(n, -1);
    // A location of any number of lines is named by a few bytes, and each context has its own frames of it.
    std::uint64_t n_frames = 0;
    for (const std::uint64_t id : in_.context_location) {
      const std::uint32_t location = locations.find(id);
      if (location != kNone)
        n_frames += in_.location_first_line[location + std::size_t{1}] - in_.location_first_line[location];
    }
    if (n_frames > kMaxFramesPerByte * in_.n_bytes + (1u << 24))
      return fail(ErrorCode::limit,
                  fmt::format("contexts have more than {} frames for a byte of the file", kMaxFramesPerByte));
    for (const std::uint32_t row : order) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t above = parents[row];
      ContextId at = above == kNone ? kRootContext : out_.contexts[above];
      if (above != kNone) {
        process[row] = process[above];
        out_.threads[row] = out_.threads[above];
      }
      const std::uint64_t id = in_.context_location[row];
      const std::uint32_t location = locations.find(id);
      const std::uint32_t first = location == kNone ? 0 : in_.location_first_line[location];
      const std::uint32_t last = location == kNone ? 0 : in_.location_first_line[location + std::size_t{1}];
      if (first == last) {
        ++n_unnamed_;
        FunctionSpec unknown;
        unknown.name = builder_.string("(unknown)");
        unknown.unresolved = true;
        FrameSpec frame{builder_.function(unknown)};
        if (addresses && id < std::uint64_t{1} << 63) frame.address = id;
        at = builder_.context(at, builder_.frame(frame));
      }
      // The innermost inlined function comes first.
      for (std::uint32_t line = last; line-- > first;) {
        const std::uint32_t function = function_rows.find(in_.line_function[line]);
        if (function == kNone)
          return fail(ErrorCode::malformed,
                      fmt::format("location {} is in function {}, which is not in the file", id,
                                  in_.line_function[line]));
        if (functions_.process[function] >= 0 || functions_.thread[function] >= 0) {
          if (functions_.process[function] >= 0) process[row] = functions_.process[function];
          ThreadSpec thread;
          thread.pid = process[row];
          thread.tid = functions_.thread[function];
          if (thread.tid >= 0) {
            out_.threads[row] = builder_.thread(thread);
            out_.any_thread = true;
          }
          continue;
        }
        FrameSpec frame{functions_.id[function], functions_.module[function]};
        const std::int64_t number = in_.line_number[line];
        if (number > 0 && number < kNone) frame.line = static_cast<std::uint32_t>(number);
        if (addresses && id < std::uint64_t{1} << 63) frame.address = id;
        frame.inlined = line + 1 < last;
        if (functions_.data_object[function]) frame.kind = FrameKind::data_object;
        at = builder_.context(at, builder_.frame(frame));
      }
      out_.contexts[row] = at;
    }
    return {};
  }

  void report() {
    const auto row = [&](std::string_view kind, std::uint64_t n, std::string_view text) {
      if (n > 0) context_.report.add(kind, Severity::loss, text, std::nullopt, n);
    };
    row("unknown-parent", n_orphans_,
        "Contexts have a caller that is not in the file; they stand at the root.");
    row("unknown-child", n_lost_children_, "Contexts list callees that are not in the file.");
    row("conflicting-parents", n_conflicts_,
        "Contexts are listed as callee of another context than the one they name; what they name was taken.");
    row("repeated-context", n_repeated_,
        "Contexts of one id differ in location or caller; the first was taken for samples.");
    row("unknown-file", n_unknown_files_, "Functions name a source file that is not in the file.");
    row("context-without-function", n_unnamed_, "Contexts have no function; they are shown as (unknown).");
  }

  const Records& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Functions functions_;
  Tree out_;
  std::uint64_t n_orphans_ = 0, n_lost_children_ = 0, n_conflicts_ = 0, n_unknown_files_ = 0, n_unnamed_ = 0,
                n_repeated_ = 0;
};

}  // namespace

Result<std::string_view> string_at(const Records& records, std::uint64_t index, std::string_view what) {
  if (index < records.strings.size()) return records.strings[index];
  if (index == 0 || records.truncated) return std::string_view();
  return fail(ErrorCode::malformed,
              fmt::format("{} is string {} of {}", what, index, records.strings.size()));
}

Result<Tree> build_tree(const Records& records, ReadContext& context, ProfileBuilder& builder) {
  return TreeBuilding(records, context, builder).run();
}

}  // namespace profd::easyview
