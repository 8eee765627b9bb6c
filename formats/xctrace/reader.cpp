// XML that `xctrace export` writes of a table with backtraces (time-profile and its like). Any element may be
// `<x ref="7"/>`, which stands for the one before with id="7".
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/demangle.h"
#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".xctrace.xml"};
constexpr ReaderNotes kNotes{
    .versions = "xctrace export of one table with backtraces",
    .keeps =
        "samples with weight, time, thread, process, core and state; functions, lines, modules with UUID",
    .recording =
        "xctrace export --input out.trace --xpath "
        "'/trace-toc/run[@number=\"1\"]/data/table[@schema=\"time-profile\"]' --output out.xctrace.xml",
    .verified = "inferno on one corpus file: samples, top functions; the sum of its weights",
};

enum class Kind : std::uint8_t {
  other,
  row,
  schema,
  time,
  thread,
  process,
  core,
  state,
  weight,
  cycles,
  backtrace,
  frame,
  binary,
  source,
  path,
  tid,
  pid
};

Kind kind_of(std::string_view name) {
  static constexpr std::pair<std::string_view, Kind> kNames[] = {{"row", Kind::row},
                                                                 {"schema", Kind::schema},
                                                                 {"sample-time", Kind::time},
                                                                 {"start-time", Kind::time},
                                                                 {"event-time", Kind::time},
                                                                 {"thread", Kind::thread},
                                                                 {"process", Kind::process},
                                                                 {"core", Kind::core},
                                                                 {"thread-state", Kind::state},
                                                                 {"weight", Kind::weight},
                                                                 {"cycle-weight", Kind::cycles},
                                                                 {"backtrace", Kind::backtrace},
                                                                 {"frame", Kind::frame},
                                                                 {"binary", Kind::binary},
                                                                 {"source", Kind::source},
                                                                 {"path", Kind::path},
                                                                 {"tid", Kind::tid},
                                                                 {"pid", Kind::pid}};
  for (const auto& [text, kind] : kNames)
    if (text == name) return kind;
  return Kind::other;
}

// What an element stands for. Which members count depends on its kind.
struct Item {
  Kind kind = Kind::other;
  std::int64_t number = -1;         // of the text: time, weight, tid, pid, core
  std::int64_t pid = -1, tid = -1;  // thread, process
  StringId text{0u};                // path; name of a thread, process or state
  StringId process{0u};             // of a thread
  std::uint32_t line = 0;           // source
  ModuleId module;                  // binary
  std::uint64_t load_address = 0;   // of that
  FrameId frame;
  ContextId context;  // backtrace
};

class Handler final : public XmlHandler {
 public:
  Handler(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes,
                     std::uint64_t offset) override {
    Element& element = open_.emplace_back();
    element.item.kind = element.kind = kind_of(name);
    const std::string_view ref = attribute(attributes, "ref");
    std::uint64_t id;
    if (!ref.empty()) {
      if (!parse_uint(ref, id)) return fail(ErrorCode::malformed, "a ref is no number", offset);
      const auto found = items_.find(id);
      if (found != items_.end())
        element.item = found->second;
      else if (element.item.kind != Kind::other)
        context_.report.add("missing-ref", Severity::loss,
                            "elements refer to ids that the file does not have", offset);
      element.is_ref = true;
      return {};
    }
    if (const std::string_view text = attribute(attributes, "id"); !text.empty()) {
      if (!parse_uint(text, id)) return fail(ErrorCode::malformed, "an id is no number", offset);
      element.id = id;
      element.has_id = true;
    }
    Item& item = element.item;
    switch (item.kind) {
      case Kind::row:
        row_ = {};
        break;
      case Kind::schema:
        if (builder_.info().name.empty()) builder_.info().name = repair_utf8(attribute(attributes, "name"));
        break;
      case Kind::thread:
      case Kind::process:
      case Kind::state: {
        std::string_view text = attribute(attributes, "fmt");
        // "main  0x8480c1 (rust_test2, pid: 49374)", "rust_test2 (49374)".
        if (item.kind == Kind::thread) {
          if (const std::size_t two = text.find("  0x"); two != std::string_view::npos)
            text = text.substr(0, two);
        } else if (item.kind == Kind::process) {
          if (const std::size_t open = text.rfind(" ("); open != std::string_view::npos)
            text = text.substr(0, open);
        }
        item.text = builder_.string(text);
        break;
      }
      case Kind::frame: {
        element.name = attribute(attributes, "name");
        std::uint64_t address = 0;
        if (parse_hex(attribute(attributes, "addr"), address)) element.address = address;
        break;
      }
      case Kind::binary: {
        ModuleSpec module;
        std::string uuid;
        for (const char c : attribute(attributes, "UUID"))
          if (c != '-') uuid += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        module.name = attribute(attributes, "path");
        if (module.name.empty()) module.name = attribute(attributes, "name");
        module.build_id = uuid;
        module.addresses = AddressKind::image_offset;
        parse_hex(attribute(attributes, "load-addr"), item.load_address);
        item.module = builder_.module(module);
        break;
      }
      case Kind::source: {
        std::uint32_t line = 0;
        if (parse_uint(attribute(attributes, "line"), line)) item.line = line;
        break;
      }
      default:
        break;
    }
    return {};
  }

  Result<void> text(std::string_view text) override {
    if (open_.empty() || open_.back().is_ref) return {};
    switch (open_.back().item.kind) {
      case Kind::time:
      case Kind::weight:
      case Kind::cycles:
      case Kind::core:
      case Kind::tid:
      case Kind::pid:
      case Kind::path:
        open_.back().text += text;
        break;
      default:
        break;
    }
    return {};
  }

  Result<void> end(std::string_view) override {
    Element element = std::move(open_.back());
    open_.pop_back();
    Item& item = element.item;
    if (!element.is_ref) {
      std::int64_t number;
      switch (element.kind) {
        case Kind::path:
          item.text = builder_.string(element.text);
          break;
        case Kind::frame:
          PROFD_CHECK(make_frame(element));
          break;
        case Kind::backtrace: {
          std::reverse(element.frames.begin(), element.frames.end());
          item.context = builder_.context_of(element.frames);
          break;
        }
        default:
          if (!element.text.empty() && parse_int(trim(element.text), number)) item.number = number;
          break;
      }
      if (element.has_id) items_.insert_or_assign(element.id, item);
    }
    if (element.kind == Kind::row) return end_row();
    if (!open_.empty()) attach(item, open_.back());
    return {};
  }

  Result<void> build() {
    if (rows_.empty())
      return fail(
          ErrorCode::unsupported,
          "no row of the table has a backtrace; export a table like time-profile, not the table of contents",
          0);
    std::int64_t first = INT64_MAX, last = 0;
    bool weights = false;
    for (const Row& row : rows_) {
      if (row.time >= 0) first = std::min(first, row.time), last = std::max(last, row.time);
      weights |= row.weight >= 0;
    }
    if (weights) builder_.add_metric(cycles_ ? "cycles" : "time", cycles_ ? "cycles" : "nanoseconds");
    builder_.add_metric("samples", "count");
    if (first <= last) builder_.info().duration_ns = last - first;
    builder_.info().producer = "Instruments";
    const StringId cpu = builder_.string("cpu"), state = builder_.string("state");
    std::vector<Label> labels;
    for (const Row& row : rows_) {
      SampleContext where;
      if (row.thread.kind == Kind::thread || row.process.kind == Kind::process) {
        const std::string name(builder_.text(row.thread.text));
        const StringId process_id = row.process.kind == Kind::process ? row.process.text : row.thread.process;
        const std::string process(builder_.text(process_id));
        where.thread = builder_.thread({.name = name,
                                        .process_name = process,
                                        .tid = row.thread.tid,
                                        .pid = row.process.pid >= 0 ? row.process.pid : row.thread.pid});
      }
      labels.clear();
      if (row.core >= 0) labels.push_back({.key = cpu, .is_number = true, .number = row.core});
      if (row.state.v != 0) labels.push_back({.key = state, .text = row.state});
      where.labels = builder_.label_set(labels);
      if (row.time >= 0) where.time = row.time;
      const std::int64_t values[] = {std::max<std::int64_t>(row.weight, 0), 1};
      builder_.add_sample(row.context, std::span(values).subspan(weights ? 0 : 1), where);
      if (weights && row.weight < 0)
        context_.report.add("no-weight", Severity::loss, "rows without a weight count as samples only");
    }
    context_.report.add("no-backtrace", Severity::info, "rows without a backtrace were not read",
                        std::nullopt, n_without_);
    return {};
  }

 private:
  struct Element {
    Item item;
    Kind kind = Kind::other;  // of the element itself; that of `item` is what it stands for
    std::uint64_t id = 0;
    bool has_id = false, is_ref = false;
    std::string text, name;
    std::uint64_t address = 0;
    ModuleId module;                 // of a frame
    std::uint64_t load_address = 0;  // of that
    Item source;
    std::vector<FrameId> frames;  // of a backtrace, leaf first
  };
  struct Row {
    Item thread, process;
    StringId state{0u};
    std::int64_t time = -1, weight = -1, core = -1;
    ContextId context;
  };

  Result<void> make_frame(Element& element) {
    FrameSpec spec;
    spec.module = element.module;
    // The file's addresses, which are the same in every run.
    spec.address =
        element.address > element.load_address ? element.address - element.load_address : element.address;
    spec.line = element.source.line;
    const std::string readable = demangle(element.name);
    FunctionSpec function{.name = builder_.string(element.name.empty() ? "[unknown]" : readable),
                          .file = element.source.text,
                          .unresolved = element.name.empty() || element.name.starts_with("0x")};
    if (readable != element.name) function.system_name = builder_.string(element.name);
    spec.function = builder_.function(function);
    element.item.frame = builder_.frame(spec);
    return {};
  }

  // Gives an element that ended to the one around it.
  void attach(const Item& item, Element& parent) {
    if (parent.is_ref) return;
    switch (parent.kind) {
      case Kind::row:
        if (item.kind == Kind::time) row_.time = item.number;
        if (item.kind == Kind::weight || item.kind == Kind::cycles) row_.weight = item.number;
        if (item.kind == Kind::cycles) cycles_ = true;
        if (item.kind == Kind::core) row_.core = item.number;
        if (item.kind == Kind::state) row_.state = item.text;
        if (item.kind == Kind::thread) row_.thread = item;
        if (item.kind == Kind::process) row_.process = item;
        if (item.kind == Kind::backtrace) row_.context = item.context;
        break;
      case Kind::backtrace:
        if (item.kind == Kind::frame && item.frame.valid() &&
            parent.frames.size() < context_.limits.stack_depth)
          parent.frames.push_back(item.frame);
        break;
      case Kind::frame:
        if (item.kind == Kind::binary) parent.module = item.module, parent.load_address = item.load_address;
        if (item.kind == Kind::source) parent.source = item;
        break;
      case Kind::source:
        if (item.kind == Kind::path) parent.item.text = item.text;
        break;
      case Kind::thread:
        if (item.kind == Kind::tid) parent.item.tid = item.number;
        if (item.kind == Kind::process) parent.item.pid = item.pid, parent.item.process = item.text;
        break;
      case Kind::process:
        if (item.kind == Kind::pid) parent.item.pid = item.number;
        break;
      case Kind::other:
        // <tagged-backtrace> wraps a backtrace.
        if (item.kind == Kind::backtrace) parent.item = item;
        break;
      default:
        break;
    }
  }

  Result<void> end_row() {
    if (rows_.size() % 4096 == 0) PROFD_CHECK(context_.stop.status());
    if (row_.context.valid())
      rows_.push_back(row_);
    else
      ++n_without_;
    return {};
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<Element> open_;
  std::unordered_map<std::uint64_t, Item> items_;
  Row row_;
  std::vector<Row> rows_;
  bool cycles_ = false;
  std::uint64_t n_without_ = 0;
};

class XctraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "xctrace", "xctrace export", kExtensions, 624, "xctrace export (Xcode Instruments)", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    return xml_root(text) == "trace-query-result" ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    Handler handler(context, profiles.emplace_back());
    PROFD_CHECK(parse_xml(source.bytes(), context, handler));
    return handler.build();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_xctrace_reader() {
  return std::make_unique<XctraceReader>();
}

}  // namespace profd
