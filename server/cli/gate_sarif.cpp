#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/support/hash.h"
#include "server/cli/gate_results.h"
#include "server/cli/gate_writers.h"
#include "server/cli/json_writer.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

// What readers of SARIF take at most of a description.
constexpr std::size_t kMostText = 1'000;

std::string cut_text(std::string_view text) {
  return cut_to_width(sanitize_text(text), kMostText / 4);
}

void text_field(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  json.begin_object();
  json.field("text", text);
  json.end_object();
}

std::string rule_id(std::string_view rule) {
  return fmt::format("gate/{:016x}", hash_bytes(rule));
}

// Percent-encoded: no scheme either.
std::string relative_uri(std::string_view file, std::string_view root) {
  std::string uri;
  for (const char c : gate_path(file, root)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

void write_location(JsonWriter& json, const GateFinding& finding, std::string_view root) {
  const std::uint32_t line = std::clamp(finding.line, 1u, 0x7fffffffu);
  json.key("locations");
  json.begin_array();
  json.begin_object();
  json.key("physicalLocation");
  json.begin_object();
  json.key("artifactLocation");
  json.begin_object();
  json.field("uri", relative_uri(finding.file, root));
  json.end_object();
  json.key("region");
  json.begin_object();
  json.field("startLine", line);
  json.field("startColumn", 1);
  json.field("endLine", line);
  json.field("endColumn", 2);
  json.end_object();
  json.end_object();
  json.end_object();
  json.end_array();
}

void write_rule(JsonWriter& json, const GateRuleAnswer& rule) {
  json.begin_object();
  json.field("id", rule_id(rule.rule));
  text_field(json, "shortDescription", cut_text(rule.rule));
  text_field(json, "fullDescription", cut_text("A profile got worse by more than " + rule.rule + " allows."));
  text_field(json, "help",
             "See docs/analyses/gate.md of profd. More runs of either side tell what is undecided.");
  json.end_object();
}

void write_notification(JsonWriter& json, std::string_view level, std::string_view text) {
  json.begin_object();
  json.field("level", level);
  text_field(json, "message", sanitize_text(text));
  json.end_object();
}

}  // namespace

std::string gate_sarif(const GateAnswer& answer, std::string_view root) {
  const auto [results, n_left_out] = gate_results(answer);
  std::vector<const GateRuleAnswer*> rules;
  std::map<std::string_view, std::size_t> index_of;
  for (const GateResult& result : results)
    if (index_of.try_emplace(result.rule->rule, rules.size()).second) rules.push_back(result.rule);

  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.field("version", "2.1.0");
  json.key("runs");
  json.begin_array();
  json.begin_object();
  json.key("tool");
  json.begin_object();
  json.key("driver");
  json.begin_object();
  json.field("name", "profd gate");
  json.field("version", PROFD_VERSION);
  json.key("rules");
  json.begin_array();
  for (const GateRuleAnswer* const rule : rules) write_rule(json, *rule);
  json.end_array();
  json.end_object();
  json.end_object();
  json.key("invocations");
  json.begin_array();
  json.begin_object();
  json.field("executionSuccessful", answer.n_unmatched == 0);
  json.key("toolExecutionNotifications");
  json.begin_array();
  if (!answer.rules_from.empty()) write_notification(json, "note", gate_origin(answer));
  for (const std::string& warning : answer.warnings) write_notification(json, "warning", warning);
  if (n_left_out > 0)
    write_notification(json, "warning", fmt::format("{} more results are left out.", n_left_out));
  for (const GateRuleAnswer& rule : answer.rules)
    if (!rule.verdict) write_notification(json, "error", rule.rule + ": " + rule.why);
  json.end_array();
  json.end_object();
  json.end_array();
  json.key("results");
  json.begin_array();
  for (const GateResult& result : results) {
    json.begin_object();
    json.field("ruleId", rule_id(result.rule->rule));
    json.field("ruleIndex", index_of.at(result.rule->rule));
    json.field("level", result.finding->judgement.verdict == GateVerdict::broken ? "error" : "note");
    text_field(json, "message", gate_message(result));
    write_location(json, *result.finding, root);
    json.key("partialFingerprints");
    json.begin_object();
    json.field("primaryLocationLineHash", gate_fingerprint(result.rule->rule, result.finding->name));
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  return out + "\n";
}

}  // namespace profd
