#include "formats/hpctoolkit_v4/meta.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/base_name.h"

namespace profd::hpctoolkit_v4 {
namespace {

enum Section : std::size_t { kGeneral, kIdNames, kMetrics, kContext, kStrings, kModules, kFiles, kFunctions };
constexpr std::uint8_t kExecution = 2;  // the scope type of inclusive values

// "CPUTIME (sec)" -> name and unit.
void split_unit(std::string_view text, Metric& metric) {
  const std::size_t open = text.rfind(" (");
  if (text.ends_with(')') && open != std::string_view::npos && open > 0) {
    metric.unit = text.substr(open + 2, text.size() - open - 3);
    text = text.substr(0, open);
  } else {
    metric.unit = "count";
  }
  metric.name = text;
}

// Of the scope whose description stands at `offset`.
Result<std::uint8_t> scope_type(DatabaseFile& file, std::uint64_t offset) {
  ByteCursor in = file.at(offset);
  in.skip(8);
  const std::uint8_t type = in.u8();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "a scope"));
  return type;
}

Result<Metric> read_metric(DatabaseFile& file, std::uint64_t offset, std::uint8_t scope_size,
                           std::uint8_t summary_size) {
  ByteCursor in = file.at(offset);
  const std::uint64_t name = in.u64(), scopes = in.u64(), summaries = in.u64();
  const std::uint16_t n_scopes = in.u16(), n_summaries = in.u16();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "a metric"));
  PROFD_CHECK(file.check_array(scopes, n_scopes, scope_size, 16, "scopes of a metric"));
  PROFD_CHECK(file.check_array(summaries, n_summaries, summary_size, 24, "summaries of a metric"));
  Metric metric;
  PROFD_TRY(const std::string_view text, file.text(name));
  split_unit(text, metric);
  for (std::uint16_t i = 0; i < n_scopes; ++i) {
    ByteCursor scope = file.at(scopes + std::uint64_t{i} * scope_size);
    PROFD_TRY(const std::uint8_t type, scope_type(file, scope.u64()));
    const std::uint16_t id = scope.u16();
    if (type == kExecution) metric.execution = id;
  }
  for (std::uint16_t i = 0; i < n_summaries; ++i) {
    ByteCursor summary = file.at(summaries + std::uint64_t{i} * summary_size);
    PROFD_TRY(const std::uint8_t type, scope_type(file, summary.u64()));
    summary.skip(8);  // the formula
    const std::uint8_t combine = summary.u8();
    summary.skip(1);
    const std::uint16_t id = summary.u16();
    if (combine != 0) continue;  // minima, maxima
    if (type == kExecution) metric.execution_sum = id;
  }
  return metric;
}

}  // namespace

Result<Meta> read_meta(DatabaseFile& file, ReadContext&) {
  Meta meta;
  PROFD_TRY(const std::uint64_t general, file.section(kGeneral));
  ByteCursor in = file.at(general);
  PROFD_TRY(const std::string_view title, file.text(in.u64()));
  meta.title = title;

  PROFD_TRY(const std::uint64_t id_names, file.section(kIdNames));
  in = file.at(id_names);
  const std::uint64_t names = in.u64();
  const std::uint8_t n_names = in.u8();
  PROFD_CHECK(file.check_array(names, n_names, 8, 8, "names of ids"));
  for (std::uint8_t i = 0; i < n_names; ++i) {
    ByteCursor name = file.at(names + std::uint64_t{i} * 8);
    PROFD_TRY(const std::string_view text, file.text(name.u64()));
    meta.id_names.emplace_back(text);
  }

  PROFD_TRY(const std::uint64_t section, file.section(kMetrics));
  in = file.at(section);
  const std::uint64_t metrics = in.u64();
  const std::uint32_t n_metrics = in.u32();
  const std::uint8_t size = in.u8(), scope_size = in.u8(), summary_size = in.u8();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "the section of metrics"));
  PROFD_CHECK(file.check_array(metrics, n_metrics, size, 28, "metrics"));
  for (std::uint32_t i = 0; i < n_metrics; ++i) {
    PROFD_TRY(Metric metric, read_metric(file, metrics + std::uint64_t{i} * size, scope_size, summary_size));
    meta.metrics.push_back(std::move(metric));
  }
  // The file has them in order of a hash; ids are in the order in which they were recorded.
  std::stable_sort(meta.metrics.begin(), meta.metrics.end(),
                   [](const Metric& a, const Metric& b) { return a.execution < b.execution; });
  return meta;
}

class ScopeReading {
 public:
  ScopeReading(DatabaseFile& file, ReadContext& context, ProfileBuilder& builder)
      : file_(file), context_(context), builder_(builder) {}

  Result<Scopes> run() {
    PROFD_CHECK(modules());
    PROFD_CHECK(files());
    PROFD_CHECK(functions());
    PROFD_CHECK(entries());
    out_.index_ = IdIndex(ids_);
    if (out_.index_.n_repeated() > 0)
      context_.report.add("repeated-context", Severity::loss,
                          "Contexts have an id that another context has; values are given to the first.",
                          std::nullopt, out_.index_.n_repeated());
    return std::move(out_);
  }

 private:
  // An array of a section {items*, u32 n, u16 size} and rows by pointer.
  struct Array {
    std::uint64_t offset = 0, n = 0, stride = 1;
    // kNone for 0 and for what points between items.
    std::uint32_t row(std::uint64_t pointer) const {
      if (pointer < offset || (pointer - offset) % stride != 0 || (pointer - offset) / stride >= n)
        return kNone;
      return static_cast<std::uint32_t>((pointer - offset) / stride);
    }
  };

  Result<Array> array(Section section, std::uint64_t least, std::string_view what) {
    PROFD_TRY(const std::uint64_t at, file_.section(section));
    ByteCursor in = file_.at(at);
    Array array;
    array.offset = in.u64();
    array.n = in.u32();
    array.stride = in.u16();
    if (!in.ok()) return tl::unexpected<Error>(file_.early(in, what));
    PROFD_CHECK(file_.check_array(array.offset, array.n, array.stride, least, what));
    array.stride = std::max<std::uint64_t>(array.stride, 1);
    return array;
  }

  Result<void> modules() {
    PROFD_TRY(modules_, array(kModules, 16, "modules"));
    for (std::uint64_t i = 0; i < modules_.n; ++i) {
      ByteCursor in = file_.at(modules_.offset + i * modules_.stride);
      in.skip(8);
      PROFD_TRY(const std::string_view path, file_.text(in.u64()));
      module_path_.push_back(path);
      module_.push_back(builder_.module({.name = path, .addresses = AddressKind::vaddr}));
    }
    return {};
  }

  Result<void> files() {
    PROFD_TRY(files_, array(kFiles, 16, "files"));
    for (std::uint64_t i = 0; i < files_.n; ++i) {
      ByteCursor in = file_.at(files_.offset + i * files_.stride);
      in.skip(8);
      PROFD_TRY(const std::string_view path, file_.text(in.u64()));
      file_path_.push_back(path);
      file_name_.push_back(builder_.string(path));
    }
    return {};
  }

  Result<void> functions() {
    PROFD_TRY(functions_, array(kFunctions, 40, "functions"));
    for (std::uint64_t i = 0; i < functions_.n; ++i) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      ByteCursor in = file_.at(functions_.offset + i * functions_.stride);
      PROFD_TRY(const std::string_view name, file_.text(in.u64()));
      const std::uint32_t module = modules_.row(in.u64());
      const std::uint64_t offset = in.u64();
      const std::uint32_t file = files_.row(in.u64());
      FunctionSpec spec;
      spec.start_line = in.u32();
      if (spec.start_line == kNone) spec.start_line = 0;
      if (file != kNone) spec.file = file_name_[file];
      spec.unresolved = name.empty();
      if (!name.empty())
        spec.name = builder_.string(name);
      else if (module != kNone)
        spec.name = builder_.string(fmt::format("{}+{:#x}", base_name(module_path_[module]), offset));
      else
        spec.name = builder_.string("(unknown)");
      function_.push_back(builder_.function(spec));
      function_module_.push_back(module == kNone ? ModuleId{} : module_[module]);
      function_file_.push_back(spec.file);
    }
    return {};
  }

  struct Pending {
    std::uint64_t at, end;
    std::uint32_t parent;
  };

  Result<void> entries() {
    PROFD_TRY(const std::uint64_t section, file_.section(kContext));
    ByteCursor in = file_.at(section);
    const std::uint64_t offset = in.u64();
    const std::uint16_t n = in.u16();
    const std::uint8_t stride = in.u8();
    if (!in.ok()) return tl::unexpected<Error>(file_.early(in, "the section of contexts"));
    PROFD_CHECK(file_.check_array(offset, n, stride, 32, "entry points"));
    for (std::uint16_t i = 0; i < n; ++i) {
      ByteCursor entry = file_.at(offset + std::uint64_t{i} * stride);
      const std::uint64_t n_bytes = entry.u64(), children = entry.u64();
      const std::uint32_t id = entry.u32();
      entry.skip(4);
      PROFD_TRY(const std::string_view name, file_.text(entry.u64()));
      Scope scope;
      scope.above = kRootContext;
      scope.frame.function = builder_.function(name.empty() ? std::string_view("unknown entry") : name);
      const std::uint32_t row = add(id, kNone, scope);
      PROFD_CHECK(open_children(children, n_bytes, row));
    }
    while (!pending_.empty()) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (pending_.back().at >= pending_.back().end) {
        pending_.pop_back();
        continue;
      }
      PROFD_CHECK(next_context());
    }
    return {};
  }

  std::uint32_t add(std::uint32_t id, std::uint32_t parent, const Scope& scope) {
    const auto row = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(id);
    out_.rows_.push_back(scope);
    out_.parent_.push_back(parent);
    return row;
  }

  Result<void> open_children(std::uint64_t offset, std::uint64_t n_bytes, std::uint32_t row) {
    if (n_bytes == 0) return {};
    if (offset == 0 || offset > file_.size() || n_bytes > file_.size() - offset)
      return fail(ErrorCode::malformed, "the children of a context lie outside the file",
                  std::min(offset, file_.size()));
    // Children never overlap, so their bytes together are no more than the file.
    n_child_bytes_ += n_bytes;
    if (n_child_bytes_ > file_.size())
      return fail(ErrorCode::malformed, "contexts overlap: some context is below itself", offset);
    pending_.push_back({offset, offset + n_bytes, row});
    return {};
  }

  ContextId emit(std::uint32_t row) {
    Scope& scope = out_.rows_[row];
    if (!scope.context.valid()) scope.context = builder_.context(scope.above, builder_.frame(scope.frame));
    return scope.context;
  }

  Result<void> next_context() {
    Pending& pending = pending_.back();
    const std::uint64_t at = pending.at;
    ByteCursor in = file_.at(at);
    const std::uint64_t n_bytes = in.u64(), children = in.u64();
    const std::uint32_t id = in.u32();
    const std::uint8_t flags = in.u8(), relation = in.u8(), type = in.u8(), n_flex = in.u8();
    in.skip(8);  // propagation
    pending.at += 32 + std::uint64_t{n_flex} * 8;
    if (!in.ok() || pending.at > pending.end)
      return fail(ErrorCode::malformed, "a context is longer than the list it stands in", at);
    const std::uint32_t parent = pending.parent;
    ByteCursor flex = in.slice(std::uint64_t{n_flex} * 8);
    std::uint64_t function = 0, file = 0, module = 0, offset = 0;
    std::uint32_t line = 0;
    if ((flags & 1) != 0) function = flex.u64();
    if ((flags & 2) != 0) {
      file = flex.u64();
      line = flex.u32();
      flex.align(8);
    }
    if ((flags & 4) != 0) {
      module = flex.u64();
      offset = flex.u64();
    }
    if (!flex.ok()) return fail(ErrorCode::malformed, "a context lacks the fields that its flags name", at);
    const Place place{functions_.row(function), files_.row(file), modules_.row(module),
                      line == kNone ? 0 : line, offset};
    if ((function != 0 && place.function == kNone) || (file != 0 && place.file == kNone) ||
        (module != 0 && place.module == kNone))
      return fail(ErrorCode::malformed, "a context points to a function, file or module that is none", at);
    const std::uint32_t row = add(id, parent, scope_of(place, type, relation, parent));
    return open_children(children, n_bytes, row);
  }

  struct Place {
    std::uint32_t function, file, module, line;
    std::uint64_t offset;
  };

  Scope scope_of(const Place& place, std::uint8_t type, std::uint8_t relation, std::uint32_t parent) {
    constexpr std::uint8_t kFunction = 0, kLoop = 1;
    Scope scope;
    if (type == kFunction || relation != 0) {
      scope.above = emit(parent);
      scope.frame.function = place.function != kNone ? function_[place.function] : unnamed(place);
      if (place.function != kNone) scope.frame.module = function_module_[place.function];
      scope.frame.inlined = relation == 2;
      if (type != kFunction) set_place(scope.frame, place);
    } else if (type == kLoop) {
      // The loop's frame stands on the line of its function where the loop begins.
      Scope& outer = out_.rows_[parent];
      FrameSpec at = outer.frame;
      set_place(at, place);
      scope.above = builder_.context(outer.above, builder_.frame(at));
      FunctionSpec loop;
      loop.name = builder_.string(
          place.file == kNone ? std::string("loop")
                              : fmt::format("loop at {}:{}", base_name(file_path_[place.file]), place.line));
      if (place.file != kNone) loop.file = file_name_[place.file];
      loop.start_line = place.line;
      scope.frame.function = builder_.function(loop);
      scope.frame.module = outer.frame.module;
      scope.frame.inlined = true;
    } else {
      const Scope& outer = out_.rows_[parent];
      scope.above = outer.above;
      scope.frame = outer.frame;
      set_place(scope.frame, place);
    }
    return scope;
  }

  void set_place(FrameSpec& frame, const Place& place) const {
    if (place.file != kNone) {
      frame.file = file_name_[place.file];
      frame.line = place.line;
    }
    if (place.module != kNone) {
      frame.module = module_[place.module];
      frame.address = place.offset;
    }
  }

  // A caller that is known by its line or instruction only.
  FunctionId unnamed(const Place& place) {
    FunctionSpec spec;
    spec.unresolved = true;
    if (place.module != kNone)
      spec.name =
          builder_.string(fmt::format("{}+{:#x}", base_name(module_path_[place.module]), place.offset));
    else
      spec.name = builder_.string("(unknown)");
    if (place.file != kNone) spec.file = file_name_[place.file];
    return builder_.function(spec);
  }

  DatabaseFile& file_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Scopes out_;
  Array modules_, files_, functions_;
  std::vector<std::string_view> module_path_, file_path_;
  std::vector<ModuleId> module_, function_module_;
  std::vector<StringId> file_name_, function_file_;
  std::vector<FunctionId> function_;
  std::vector<std::uint64_t> ids_;
  std::vector<Pending> pending_;
  std::uint64_t n_child_bytes_ = 0;
};

Result<Scopes> Scopes::read(DatabaseFile& file, ReadContext& context, ProfileBuilder& builder) {
  return ScopeReading(file, context, builder).run();
}

ContextId Scopes::context(std::uint32_t row, ProfileBuilder& builder) {
  Scope& scope = rows_[row];
  if (!scope.context.valid()) scope.context = builder.context(scope.above, builder.frame(scope.frame));
  return scope.context;
}

}  // namespace profd::hpctoolkit_v4
