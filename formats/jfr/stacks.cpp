#include "formats/jfr/stacks.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/id.h"
#include "formats/support/demangle.h"
#include "formats/support/java_frame.h"

namespace profd::jfr {
namespace {

// A reader of the fields named; slots in their order.
RowReader reader_of(const LoadedChunk& in, std::uint32_t cls, std::initializer_list<std::string_view> names) {
  if (cls == kNone) return {};
  RowReader reader(in.metadata, in.layouts, cls, [&](const Field& field) -> std::uint8_t {
    const auto found = std::find(names.begin(), names.end(), field.name);
    return found == names.end() ? kNoSlot : static_cast<std::uint8_t>(found - names.begin());
  });
  return reader;
}

// Lines and bytecode indices: 32 bits, negative or absurd when unknown.
bool is_known(std::uint64_t value) {
  return value < 0x7FFFFFFF;
}
std::uint32_t known(std::uint64_t value) {
  return is_known(value) ? static_cast<std::uint32_t>(value) : 0;
}

// "java/util/Map" is java.util.Map, "[B" is byte[], "[Ljava/lang/String;" is java.lang.String[].
std::string readable_class(std::string_view name) {
  std::size_t dimensions = 0;
  while (dimensions < name.size() && name[dimensions] == '[') ++dimensions;
  if (dimensions > 0) {
    name.remove_prefix(dimensions);
    constexpr std::pair<std::string_view, std::string_view> kPrimitives[] = {
        {"B", "byte"}, {"C", "char"}, {"D", "double"}, {"F", "float"},
        {"I", "int"},  {"J", "long"}, {"S", "short"},  {"Z", "boolean"}};
    if (name.size() > 2 && name.front() == 'L' && name.back() == ';') name = name.substr(1, name.size() - 2);
    for (const auto& [code, type] : kPrimitives)
      if (name == code) name = type;
  }
  std::string out(name);
  // The address of a hidden class follows a slash that is no part of the package.
  const std::size_t hidden = std::min(out.find("/0x"), out.size());
  std::replace(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(hidden), '/', '.');
  for (std::size_t i = 0; i < dimensions; ++i) out += "[]";
  return out;
}

}  // namespace

StackResolver::StackResolver(const LoadedChunk& in, ProfileBuilder& builder, std::uint32_t max_depth,
                             StackCounts& counts)
    : in_(in), builder_(builder), max_depth_(max_depth), counts_(counts) {
  const Metadata& m = in.metadata;
  stack_class_ = m.index_of("jdk.types.StackTrace");
  frame_class_ = m.index_of("jdk.types.StackFrame");
  thread_class_ = m.index_of("java.lang.Thread");
  method_class_ = m.index_of("jdk.types.Method");
  class_class_ = m.index_of("java.lang.Class");
  kind_class_ = m.index_of("jdk.types.FrameType");
  package_class_ = m.index_of("jdk.types.Package");
  module_class_ = m.index_of("jdk.types.Module");
  symbol_class_ = m.index_of("jdk.types.Symbol");
  frame_reader_ = reader_of(in, frame_class_, {"method", "lineNumber", "bytecodeIndex", "type"});
  has_index_ = frame_class_ != kNone && m.classes()[frame_class_].field("bytecodeIndex") != nullptr;
  thread_reader_ =
      reader_of(in, thread_class_, {"osName", "osThreadId", "javaName", "javaThreadId", "virtual"});
  method_reader_ = reader_of(in, method_class_, {"type", "name", "descriptor"});
  class_reader_ = reader_of(in, class_class_, {"name", "package"});
  package_reader_ = reader_of(in, package_class_, {"name", "module"});
  module_reader_ = reader_of(in, module_class_, {"name", "location"});
  const auto size = [&](std::uint32_t cls) { return cls == kNone ? 0 : in.pools.size(cls); };
  contexts_.resize(size(stack_class_));
  threads_.resize(size(thread_class_));
  methods_.resize(size(method_class_));
  kinds_.resize(size(kind_class_));
  kind_known_.resize(size(kind_class_));
  texts_.resize(m.classes().size());
}

std::string StackResolver::class_name(std::uint64_t class_key, std::uint64_t* package_key) {
  const std::uint32_t at = in_.pools.row(class_class_, class_key);
  if (at == kNone) return {};
  Row row;
  Wire in = in_.pools.value(class_class_, at);
  class_reader_.read(in, in_.layouts, row);
  if (!in.ok()) return {};
  if (package_key) *package_key = row.numbers[1];
  return row.texts[0].code != Text::Code::null ? in_.pools.text(row.texts[0])
                                               : in_.pools.text(symbol_class_, row.numbers[0]);
}

ModuleId StackResolver::module_of(std::uint64_t package_key) {
  const std::uint32_t package = in_.pools.row(package_class_, package_key);
  if (package == kNone || module_class_ == kNone) return {};
  Row row;
  Wire in = in_.pools.value(package_class_, package);
  package_reader_.read(in, in_.layouts, row);
  const std::uint32_t module = in.ok() ? in_.pools.row(module_class_, row.numbers[1]) : kNone;
  if (module == kNone) return {};
  in = in_.pools.value(module_class_, module);
  row = {};
  module_reader_.read(in, in_.layouts, row);
  const std::string name = row.texts[0].code != Text::Code::null
                               ? in_.pools.text(row.texts[0])
                               : in_.pools.text(symbol_class_, row.numbers[0]);
  return name.empty() ? ModuleId{} : builder_.module({.name = name});
}

StackResolver::Method StackResolver::make_method(std::uint32_t at) {
  Row row;
  Wire in = in_.pools.value(method_class_, at);
  method_reader_.read(in, in_.layouts, row);
  const auto symbol = [&](std::size_t slot) {
    return row.texts[slot].code != Text::Code::null ? in_.pools.text(row.texts[slot])
                                                    : in_.pools.text(symbol_class_, row.numbers[slot]);
  };
  std::uint64_t package = 0;
  const std::string type = class_name(row.numbers[0], &package);
  const std::string name = symbol(1), descriptor = symbol(2);
  Method made;
  // async-profiler gives native symbols a descriptor that no Java method can have: "()L;", "(Lk;)L;".
  const bool symbol_of_library = descriptor.ends_with(")L;");
  if (symbol_of_library) {
    if (!type.empty()) made.module = builder_.module({.name = type});
    FunctionSpec spec;
    const std::string readable = demangle(name);
    spec.name =
        builder_.string(readable.empty() ? std::string_view("[unknown]") : std::string_view(readable));
    if (readable != name) spec.system_name = builder_.string(name);
    spec.unresolved = name.empty();
    made.function = builder_.function(spec);
    return made;
  }
  FunctionSpec spec;
  const std::string readable = type.empty() ? name : readable_class(type) + '.' + name;
  spec.unresolved = readable.empty();
  spec.name = builder_.string(readable.empty() ? std::string_view("[unknown]") : std::string_view(readable));
  if (!descriptor.empty()) spec.system_name = builder_.string(readable + descriptor);
  if (const std::string path = java_source_path(type); !path.empty() && !name.empty()) {
    spec.file = builder_.string(path);
    ++counts_.placed;
  }
  made.function = builder_.function(spec);
  made.module = module_of(package);
  return made;
}

const StackResolver::Method& StackResolver::method(std::uint64_t key) {
  const std::uint32_t at = in_.pools.row(method_class_, key);
  if (at == kNone) {
    ++counts_.unknown_methods;
    if (!no_method_.function.valid())
      no_method_.function =
          builder_.function(FunctionSpec{.name = builder_.string("[unknown]"), .unresolved = true});
    return no_method_;
  }
  if (!methods_[at].function.valid()) methods_[at] = make_method(at);
  return methods_[at];
}

StackResolver::Kind StackResolver::kind(std::uint64_t key) {
  const std::uint32_t at = in_.pools.row(kind_class_, key);
  if (at == kNone) return {};
  if (!kind_known_[at]) {
    kind_known_[at] = 1;
    const std::string text = in_.pools.text(kind_class_, key);
    if (text == "Interpreted") kinds_[at] = {FrameKind::interpreted, false};
    if (text == "JIT compiled" || text == "C1 compiled") kinds_[at] = {FrameKind::jit, false};
    if (text == "Inlined") kinds_[at] = {FrameKind::jit, true};
    if (text == "Kernel") kinds_[at] = {FrameKind::kernel, false};
  }
  return kinds_[at];
}

Result<ContextId> StackResolver::make_context(std::uint32_t at) {
  Wire in = in_.pools.value(stack_class_, at);
  stack_.clear();
  bool truncated = false;
  for (const Field& field : in_.metadata.classes()[stack_class_].fields) {
    const std::uint32_t type = in_.metadata.index_of(field.type);
    if (field.name == "truncated" && !field.array && !field.pooled) {
      truncated = in.byte() != 0;
    } else if (field.name == "frames" && field.array && !field.pooled && type == frame_class_) {
      const std::uint64_t n = in.varint(), from = in.offset();
      if (n > in.left()) return fail(ErrorCode::malformed, "a stack has more frames than bytes", from);
      if (n > max_depth_)
        return fail(ErrorCode::limit,
                    fmt::format("a stack has {} frames (limit stack_depth {})", n, max_depth_), from);
      Row row;
      for (std::uint64_t i = 0; i < n && in.ok(); ++i) {
        frame_reader_.read(in, in_.layouts, row);
        const Method& m = method(row.numbers[0]);
        const Kind k = kind(row.numbers[3]);
        FrameSpec spec;
        spec.function = m.function;
        spec.module = m.module;
        spec.line = known(row.numbers[1]);
        // Native code has no bytecodes, whatever number stands there.
        const bool of_java = k.kind == FrameKind::interpreted || k.kind == FrameKind::jit;
        if (has_index_ && of_java && is_known(row.numbers[2])) {
          spec.address = row.numbers[2] + 1;
          ++counts_.indices;
        }
        spec.kind = k.kind;
        spec.inlined = k.inlined;
        stack_.push_back(builder_.frame(spec));
      }
    } else {
      return fail(ErrorCode::malformed, "the type of stacks has a field that is not known", in.offset());
    }
  }
  if (!in.ok()) return fail(ErrorCode::malformed, "a stack ends early", in.offset());
  if (truncated) {
    ++counts_.truncated;
    FrameSpec spec;
    spec.function =
        builder_.function(FunctionSpec{.name = builder_.string("[truncated]"), .unresolved = true});
    stack_.push_back(builder_.frame(spec));
  }
  std::reverse(stack_.begin(), stack_.end());
  return builder_.context_of(stack_);
}

Result<ContextId> StackResolver::context(std::uint64_t key) {
  const std::uint32_t at = stack_class_ == kNone ? kNone : in_.pools.row(stack_class_, key);
  if (at == kNone) {
    ++(key == 0 ? counts_.without : counts_.missing);
    return kRootContext;
  }
  if (!contexts_[at].valid()) {
    PROFD_TRY(contexts_[at], make_context(at));
  }
  return contexts_[at];
}

ThreadId StackResolver::thread(std::uint64_t key) {
  const std::uint32_t at = thread_class_ == kNone ? kNone : in_.pools.row(thread_class_, key);
  if (at == kNone) return {};
  if (!threads_[at].valid()) {
    Row row;
    Wire in = in_.pools.value(thread_class_, at);
    thread_reader_.read(in, in_.layouts, row);
    std::string name = in_.pools.text(row.texts[2]);
    if (name.empty()) name = in_.pools.text(row.texts[0]);
    // Virtual threads have no thread of the system; they are known by their Java id.
    std::uint64_t id = row.numbers[1];
    if (id == 0) id = row.numbers[3];
    threads_[at] = builder_.thread({.name = name, .tid = id == 0 ? -1 : static_cast<std::int64_t>(id)});
  }
  return threads_[at];
}

StringId StackResolver::text(std::uint32_t cls, std::uint64_t key) {
  const std::uint32_t at = cls == kNone ? kNone : in_.pools.row(cls, key);
  if (at == kNone) return StringId{0u};
  std::vector<StringId>& known_texts = texts_[cls];
  if (known_texts.empty()) known_texts.resize(in_.pools.size(cls));
  if (!known_texts[at].valid()) {
    std::string text;
    if (cls == class_class_) {
      text = readable_class(class_name(key, nullptr));
    } else if (cls == thread_class_) {
      Row row;
      Wire in = in_.pools.value(cls, at);
      thread_reader_.read(in, in_.layouts, row);
      text = in_.pools.text(row.texts[2]);
      if (text.empty()) text = in_.pools.text(row.texts[0]);
    } else {
      text = in_.pools.text(cls, key);
    }
    known_texts[at] = builder_.string(text);
  }
  return known_texts[at];
}

}  // namespace profd::jfr
