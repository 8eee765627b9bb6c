#include "server/cli/modules_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "server/cli/align.h"

namespace profd {
namespace {

constexpr std::size_t kWidestModule = 32;

bool has_no_names(const ModuleRow& row) {
  return row.state == ModuleState::none || row.state == ModuleState::mismatch;
}

}  // namespace

std::string modules_table(const Console& console, const ModulesAnswer& answer) {
  std::size_t width = 0;
  for (const ModuleRow& row : answer.rows)
    width = std::max(width, std::min(display_width(sanitize_text(row.name)), kWidestModule));
  std::string out;
  for (const ModuleRow& row : answer.rows) {
    const std::string state = left_aligned(module_state_name(row.state), 8);
    const std::string name = sanitize_text(row.name);
    const bool with_file = !has_no_names(row) && !row.file.empty();
    out += fmt::format("{}  {}  {}", right_aligned(row.amount.share_text, 7),
                       has_no_names(row) ? console.out.warning(state) : state,
                       with_file ? left_aligned(name, width) : name);
    if (with_file) out += "  " + sanitize_text(row.file);
    if (row.by_inode) out += console.out.dim("  (by inode: the profile has no build id)");
    if (row.unchecked) out += console.out.dim("  (on your word: the profile has no build id)");
    out += "\n";
    if (!row.reason.empty()) out += "         " + sanitize_text(row.reason) + "\n";
    if (!row.remedy.empty()) out += "         " + console.out.dim(sanitize_text(row.remedy)) + "\n";
  }
  if (answer.left > 0) out += fmt::format("         {} more\n", answer.left);
  return out + answer.text + "\n";
}

void add_missing_modules(const Console& console, const ModulesAnswer& answer, std::string& out) {
  constexpr double kShown = 0.01;
  for (const ModuleRow& row : answer.rows) {
    if (std::abs(row.amount.share.value_or(0)) < kShown || row.reason.empty()) continue;
    out += fmt::format("  {}  {}: {}\n", right_aligned(row.amount.share_text, 7), sanitize_text(row.name),
                       sanitize_text(row.reason));
    if (!row.remedy.empty()) out += "    " + console.out.dim(sanitize_text(row.remedy)) + "\n";
  }
}

void write_modules(const ModulesAnswer& answer, JsonWriter& json) {
  json.begin_array();
  for (const ModuleRow& row : answer.rows) {
    json.begin_object();
    json.field("name", row.name);
    json.field("path", row.path);
    if (!row.build_id.empty()) json.field("buildId", row.build_id);
    json.field("self", row.amount.value);
    if (row.amount.share) json.field("share", *row.amount.share);
    json.field("state", module_state_name(row.state));
    if (!row.reason.empty()) json.field("reason", row.reason);
    if (!row.remedy.empty()) json.field("remedy", row.remedy);
    if (!row.file.empty()) json.field("file", row.file);
    if (row.unchecked) json.field("unchecked", true);
    if (row.by_inode) json.field("byInode", true);
    if (!row.fetch.empty()) {
      json.key("fetch");
      json.begin_array();
      for (const std::string& server : row.fetch) json.value(server);
      json.end_array();
    }
    json.key("tried");
    json.begin_array();
    for (const TriedFile& tried : row.tried) {
      json.begin_object();
      json.field("path", tried.path);
      json.field("why", tried.why);
      json.end_object();
    }
    json.end_array();
    json.field("addresses", row.n_frames);
    json.field("known", row.n_known);
    json.end_object();
  }
  json.end_array();
}

}  // namespace profd
