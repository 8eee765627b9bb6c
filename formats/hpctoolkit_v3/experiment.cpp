#include "formats/hpctoolkit_v3/experiment.h"

#include <unordered_map>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd::hpctoolkit_v3 {
namespace {

using Attributes = std::span<const XmlAttribute>;

std::uint64_t number(Attributes attributes, std::string_view name) {
  std::uint64_t out = 0;
  const std::string_view text = attribute(attributes, name);
  if (text.starts_with("0x"))
    parse_hex(text, out);
  else
    parse_uint(text, out);
  return out;
}

std::uint32_t line_of(Attributes attributes) {
  const std::uint64_t line = number(attributes, "l");
  return line < kNone ? static_cast<std::uint32_t>(line) : 0;
}

// "CPUTIME (usec):Sum (I)" -> CPUTIME, microseconds.
std::pair<std::string, std::string> name_and_unit(std::string_view text) {
  for (const std::string_view end : {" (I)", " (E)", ":Sum"})
    if (text.ends_with(end)) text.remove_suffix(end.size());
  std::string unit = "count";
  const std::size_t open = text.rfind(" (");
  if (text.ends_with(')') && open != std::string_view::npos && open > 0) {
    unit = text.substr(open + 2, text.size() - open - 3);
    if (unit == "usec") unit = "microseconds";
    text = text.substr(0, open);
  }
  return {std::string(text), unit};
}

bool is_unknown(std::string_view file) {
  return file.starts_with("<unknown file>") || (file.starts_with('[') && file.ends_with(']'));
}

class Handler final : public XmlHandler {
 public:
  Handler(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  Result<void> start(std::string_view name, Attributes attributes, std::uint64_t offset) override {
    if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (in_data_) return scope(name, attributes, offset);
    if (name == "HPCToolkitExperiment") {
      out.version = attribute(attributes, "version");
      if (!out.version.starts_with("2.") && !out.version.starts_with("3."))
        return fail(ErrorCode::unsupported,
                    fmt::format("experiment.xml has version {}; 2 and 3 are read", out.version), offset);
    } else if (name == "SecFlatProfile") {
      return fail(ErrorCode::unsupported, "the database is a flat profile, only call-path profiles are read",
                  offset);
    } else if (name == "SecCallPathProfile") {
      out.name = attribute(attributes, "n");
    } else if (name == "SecCallPathProfileData") {
      in_data_ = true;
    } else if (name == "Metric") {
      Metric metric;
      metric.id = number(attributes, "i");
      std::tie(metric.name, metric.unit) = name_and_unit(attribute(attributes, "n"));
      metric.inclusive = attribute(attributes, "t") == "inclusive";
      metric.exclusive = attribute(attributes, "t") == "exclusive";
      out.metrics.push_back(std::move(metric));
    } else if (name == "MetricDB") {
      DbMetric metric;
      metric.column = static_cast<std::uint32_t>(std::min<std::uint64_t>(number(attributes, "db-id"), kNone));
      std::tie(metric.name, metric.unit) = name_and_unit(attribute(attributes, "n"));
      metric.inclusive = attribute(attributes, "t") == "inclusive";
      metric.exclusive = attribute(attributes, "t") == "exclusive";
      out.db_metrics.push_back(std::move(metric));
    } else if (name == "LoadModule") {
      modules_[number(attributes, "i")] = builder_.module({attribute(attributes, "n")});
    } else if (name == "File") {
      const std::string_view path = attribute(attributes, "n");
      if (!is_unknown(path)) files_[number(attributes, "i")] = std::string(path);
    } else if (name == "Procedure") {
      procedures_[number(attributes, "i")] = std::string(attribute(attributes, "n"));
    }
    return {};
  }

  Result<void> end(std::string_view name) override {
    if (!in_data_) return {};
    if (name == "SecCallPathProfileData")
      in_data_ = false;
    else if (is_scope(name) && !open_.empty())
      open_.pop_back();
    return {};
  }

  void report() {
    if (n_odd_ > 0)
      context_.report.add("malformed-value", Severity::loss,
                          "Values of the XML are no numbers; they count as 0.", std::nullopt, n_odd_);
    if (n_unknown_ > 0)
      context_.report.add("unknown-procedure", Severity::loss,
                          "Scopes name a procedure that is not in the table; they are shown as (unknown).",
                          std::nullopt, n_unknown_);
  }

  Experiment out;

 private:
  static bool is_scope(std::string_view name) {
    return name == "PF" || name == "Pr" || name == "P" || name == "C" || name == "L" || name == "S";
  }

  Result<void> scope(std::string_view name, Attributes attributes, std::uint64_t offset) {
    const std::uint32_t parent = open_.empty() ? kNone : open_.back();
    if (name == "M") {
      double value = 0;
      if (!parse_double(attribute(attributes, "v"), value)) {
        ++n_odd_;
        return {};
      }
      out.values.push_back({parent, number(attributes, "n"), value});
      return {};
    }
    if (!is_scope(name)) return {};
    if (out.nodes.size() >= kNone - 1) return fail(ErrorCode::limit, "more scopes than 32-bit ids", offset);
    Node node;
    node.id = number(attributes, "i");
    node.parent = parent;
    node.is_statement = name == "S";
    if (name == "PF" || name == "Pr" || name == "P") {
      procedure(name, attributes, node);
    } else if (parent == kNone) {
      return fail(ErrorCode::malformed, fmt::format("a scope {} stands outside a procedure", name), offset);
    } else {
      const Node& outer = out.nodes[parent];
      node.above = outer.above;
      node.frame = outer.frame;
      node.frame.line = line_of(attributes);
      node.frame.address = name == "L" ? 0 : number(attributes, "v");
      if (name == "L") loop(attributes, node);
    }
    open_.push_back(static_cast<std::uint32_t>(out.nodes.size()));
    out.nodes.push_back(node);
    return {};
  }

  StringId file(Attributes attributes) {
    const auto found = files_.find(number(attributes, "f"));
    return found == files_.end() ? StringId{0u} : builder_.string(found->second);
  }

  void procedure(std::string_view element, Attributes attributes, Node& node) {
    node.above = node.parent == kNone ? kRootContext : out.context(node.parent, builder_);
    FunctionSpec function;
    const auto found = procedures_.find(number(attributes, "n"));
    if (found == procedures_.end()) ++n_unknown_;
    std::string_view name =
        found == procedures_.end() ? std::string_view("(unknown)") : std::string_view(found->second);
    function.unresolved = found == procedures_.end() || name.starts_with("<unknown procedure>");
    function.name = builder_.string(name);
    function.file = file(attributes);
    function.start_line = line_of(attributes);
    node.frame = {};
    node.frame.function = builder_.function(function);
    if (const auto module = modules_.find(number(attributes, "lm")); module != modules_.end())
      node.frame.module = module->second;
    node.frame.inlined = element == "Pr" || attribute(attributes, "a") == "1";
  }

  // The loop's frame stands on the line of its function where the loop begins.
  void loop(Attributes attributes, Node& node) {
    const FrameSpec outer = node.frame;
    node.above = builder_.context(node.above, builder_.frame(outer));
    StringId path = file(attributes);
    FunctionSpec function;
    if (path.v == 0) path = outer.file;
    const std::string text(builder_.text(path));
    function.name = builder_.string(text.empty() ? fmt::format("loop at line {}", outer.line)
                                                 : fmt::format("loop at {}:{}", base_name(text), outer.line));
    function.file = path;
    function.start_line = outer.line;
    node.frame = {};
    node.frame.function = builder_.function(function);
    node.frame.module = outer.module;
    node.frame.inlined = true;
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  bool in_data_ = false;
  std::vector<std::uint32_t> open_;
  std::unordered_map<std::uint64_t, ModuleId> modules_;
  std::unordered_map<std::uint64_t, std::string> files_, procedures_;
  std::uint64_t n_odd_ = 0, n_unknown_ = 0;
};

}  // namespace

ContextId Experiment::context(std::uint32_t node, ProfileBuilder& builder) {
  Node& n = nodes[node];
  if (!n.context.valid()) n.context = builder.context(n.above, builder.frame(n.frame));
  return n.context;
}

Result<Experiment> read_experiment(std::span<const std::byte> xml, ReadContext& context,
                                   ProfileBuilder& builder) {
  Handler handler(context, builder);
  // Call chains nest three elements a call: PF, L, C.
  const std::uint32_t nesting = context.limits.nesting;
  context.limits.nesting = std::max(nesting, std::min(context.limits.stack_depth, 300'000u));
  Result<void> parsed = parse_xml(xml, context, handler);
  context.limits.nesting = nesting;
  if (!parsed) return tl::unexpected<Error>(std::move(parsed).error());
  handler.report();
  return std::move(handler.out);
}

}  // namespace profd::hpctoolkit_v3
