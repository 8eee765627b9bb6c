#include "formats/pprof/prune.h"

#include <re2/re2.h>

namespace profd::pprof {

struct PruneRule::Compiled {
  Compiled(const std::string& drop_text, const std::string& keep_text, const RE2::Options& options)
      : drop(drop_text, options), keep(keep_text, options), has_keep(!keep_text.empty()) {}
  RE2 drop, keep;
  bool has_keep;
};

Result<PruneRule> PruneRule::make(std::string_view drop, std::string_view keep) {
  PruneRule rule;
  if (drop.empty()) return rule;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  auto compiled = std::make_shared<Compiled>(std::string(drop), std::string(keep), options);
  if (!compiled->drop.ok())
    return fail(ErrorCode::malformed, "drop_frames is not a regular expression: " + compiled->drop.error());
  if (!compiled->keep.ok())
    return fail(ErrorCode::malformed, "keep_frames is not a regular expression: " + compiled->keep.error());
  rule.rule_ = std::move(compiled);
  return rule;
}

bool PruneRule::drops(std::string_view function_name) const {
  if (!rule_ || function_name.empty()) return false;
  const std::string name = simplified_name(function_name);
  if (!RE2::FullMatch(name, rule_->drop)) return false;
  return !rule_->has_keep || !RE2::FullMatch(name, rule_->keep);
}

std::string simplified_name(std::string_view name) {
  if (!name.empty() && name.front() == '.') name.remove_prefix(1);
  static constexpr std::string_view kAnonymous = "(anonymous namespace)";
  static constexpr std::string_view kOperator = "operator()";
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '(') continue;
    if (name.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size() - 1;
      continue;
    }
    constexpr std::size_t kBefore = kOperator.size() - 2;
    if (i >= kBefore && name.substr(i - kBefore, kOperator.size()) == kOperator) {
      ++i;
      continue;
    }
    return std::string(name.substr(0, i));
  }
  return std::string(name);
}

}  // namespace profd::pprof
