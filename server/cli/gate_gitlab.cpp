#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "server/cli/gate_results.h"
#include "server/cli/gate_writers.h"
#include "server/cli/json_writer.h"
#include "server/feature/escape.h"

namespace profd {

std::string gate_gitlab(const GateAnswer& answer, std::string_view root) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  // Results of one fingerprint are one to GitLab; functions of two modules may have one name.
  std::map<std::string, std::size_t> n_with;
  for (const GateResult& result : gate_results(answer).results) {
    std::string fingerprint = gate_fingerprint(result.rule->rule, result.finding->name);
    if (const std::size_t n = ++n_with[fingerprint]; n > 1) fingerprint += fmt::format(":{}", n);
    json.begin_object();
    json.field("description", gate_message(result));
    json.field("check_name", "profd gate");
    json.field("fingerprint", fingerprint);
    json.field("severity", result.finding->judgement.verdict == GateVerdict::broken ? "major" : "info");
    json.key("location");
    json.begin_object();
    json.field("path", sanitize_text(gate_path(result.finding->file, root)));
    json.key("lines");
    json.begin_object();
    json.field("begin", std::clamp(result.finding->line, 1u, 0x7fffffffu));
    json.end_object();
    json.end_object();
    json.end_object();
  }
  json.end_array();
  return out + "\n";
}

}  // namespace profd
