#include "server/cli/gate_writers.h"
#include "server/cli/json_writer.h"

namespace profd {
namespace {

void write_finding(JsonWriter& json, const GateFinding& finding) {
  const GateJudgement& at = finding.judgement;
  json.begin_object();
  json.field("name", finding.name);
  json.field("verdict", gate_word(at.verdict));
  json.field("before", at.before);
  json.field("after", at.after);
  json.field("allowed", at.allowed);
  json.field("low", at.low);
  json.field("high", at.high);
  json.field("seen", at.seen);
  json.field("beforeText", finding.before);
  json.field("afterText", finding.after);
  json.field("changeText", finding.change);
  json.field("why", finding.why);
  json.key("path");
  json.begin_array();
  for (const std::string& name : finding.path) json.value(name);
  json.end_array();
  json.field("file", finding.file);
  json.field("line", finding.line);
  json.end_object();
}

}  // namespace

std::string gate_json(const GateAnswer& answer) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("broken", answer.n_broken);
  json.field("undecided", answer.n_undecided);
  json.field("held", answer.n_held);
  json.field("unmatched", answer.n_unmatched);
  json.field("runsBefore", answer.n_before);
  json.field("runsAfter", answer.n_after);
  json.field("rulesFrom", answer.rules_from);
  json.field("noise", answer.noise);
  json.field("scale", answer.scale);
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : answer.warnings) json.value(warning);
  json.end_array();
  json.key("rules");
  json.begin_array();
  for (const GateRuleAnswer& rule : answer.rules) {
    json.begin_object();
    json.field("rule", rule.rule);
    json.field("metric", rule.metric);
    json.field("verdict", gate_word(rule.verdict));
    json.field("why", rule.why);
    json.field("broken", rule.n_broken);
    json.field("undecided", rule.n_undecided);
    json.field("held", rule.n_held);
    json.field("small", rule.n_small);
    json.key("findings");
    json.begin_array();
    for (const GateFinding& finding : rule.findings) write_finding(json, finding);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

}  // namespace profd
