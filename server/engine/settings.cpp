#include "server/engine/settings.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "core/support/text.h"
#include "server/engine/fetch_places.h"
#include "server/engine/project_trust.h"
#include "server/engine/rule_settings.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

constexpr SettingPlaces kClients = kInitially | kAtAnyTime | kFromPage;
constexpr SettingPlaces kEverywhere = kClients | kInProjectFile;

constexpr std::array<Setting, 27> kSettings = {{
    {"", "profiles", SettingKind::globs, &Settings::profiles, kInProjectFile, "none",
     "Files to load and watch; the first is the one that is [meant](#which-profile-is-meant). Their order is "
     "that of the "
     "globs, and newest first within one. 16 are loaded in all, those named without a wildcard and then the "
     "newest; a "
     "message says how many more match. New ones are noticed in up to 2,000 folders. A glob has at most "
     "1,024 bytes.",
     ""},
    {"codeLens", "code_lens", SettingKind::flag, &Settings::code_lens, kEverywhere | kInConfiguration,
     "`false`", "Lenses above functions: total, self, callers.", ""},
    {"assemblyLens", "assembly_lens", SettingKind::flag, &Settings::assembly_lens,
     kEverywhere | kInConfiguration, "`false`",
     "Lenses above functions that have machine code: its size, in how many places it is, the hottest "
     "instruction. "
     "They open it ([symbols](symbols.md#in-any-editor)).",
     ""},
    {"inlayHints", "inlay_hints", SettingKind::flag, &Settings::inlay_hints, kEverywhere, "`true`",
     "Costs at the end of lines.", ""},
    {"diagnostics", "diagnostics", SettingKind::flag, &Settings::diagnostics, kEverywhere | kInConfiguration,
     "`false`",
     "Warnings at functions that became slower beyond noise, and where a rule of `.profd.toml` is broken, "
     "while the "
     "profile that is meant is a comparison. Of another profile, for editors without profd support: its "
     "hottest lines.",
     ""},
    {"threshold", "threshold", SettingKind::share, &Settings::threshold, kEverywhere | kInConfiguration,
     "`0.005`", "Lines and functions below this share of the total stay silent until hovered.", ""},
    {"metric", "metric", SettingKind::text, &Settings::metric, kEverywhere | kInConfiguration,
     "the profile's own", "The metric that profiles are opened with.",
     "The metric that profiles are opened with, by name. Those that `profiles` opened get it when it "
     "changes."},
    {"pathMappings", "map", SettingKind::mappings, &Settings::mappings,
     kInitially | kAtAnyTime | kInConfiguration | kInProjectFile, "none",
     "Prefixes of paths in profiles, and the folders here that they are. `to` is an absolute path or a "
     "`file:` URI. The "
     "longest `from` that fits wins; the folders are looked through beside the workspace.",
     "Path mappings, beside those of the client: `from` is a prefix of paths in profiles, up to the end of a "
     "component, "
     "`to` the folder that it is here, inside the folder of the file. Other folders are for the client's "
     "`pathMappings`."},
    {"filters", "filters", SettingKind::filters, &Settings::filters, kEverywhere, "none",
     "What hints, lenses, hovers and the lists of Neovim leave out of every profile, after the filters of "
     "`.profd.toml`.",
     "What hints, lenses, hovers, the lists of Neovim and the commands of plain editors leave out."},
    {"profileFilters", "", SettingKind::filters_by_profile, &Settings::profile_filters, kClients, "none",
     "What they leave out of the profiles of that file, after `filters`. A filter that is switched on for "
     "one profile "
     "belongs here: it says nothing about another.",
     ""},
    {"mine", "mine", SettingKind::names, &Settings::mine, kEverywhere,
     "what `.profd.toml` says, else the files of the workspace",
     "Folders, packages or namespaces, and modules: what the filter `mine` leaves as it is. Without names: "
     "code whose file "
     "is in the workspace, and not in `vendor`, `node_modules`, `third_party`, `site-packages`, `venv` or "
     "the like.",
     "As `mine` above."},
    {"derive", "derive", SettingKind::formulas, &Settings::derived, kEverywhere, "none",
     "Metrics [by formula](views.md#metrics-by-formula) that every profile has whose metrics they name: "
     "names, "
     "and of each "
     "its formula, or `formula` and `unit`. One of the same name in `.profd.toml` is not used.",
     "Metrics [by formula](views.md#metrics-by-formula) that every profile has whose metrics they name: "
     "`cpi = \"cycles / instructions\"`, or a table of `formula` and `unit`."},
    {"sourceMaps", "source_maps", SettingKind::flag, &Settings::source_maps, kEverywhere | kInConfiguration,
     "`true`",
     "Profiles of bundled or compiled JavaScript are shown by their sources, where scripts of the workspace "
     "name [source maps](source-maps.md).",
     ""},
    {"", "gate.rules", SettingKind::rules, &Settings::gate_rules, kInProjectFile, "none",
     "What has to hold of a change, as of `--rule` ([the gate](analyses/gate.md#rules)): the rules of "
     "`profd gate` where "
     "none is given to it.",
     ""},
    {"", "gate.metric", SettingKind::text, &Settings::gate_metric, kInProjectFile, "the profile's own",
     "The metric of those rules that name none; `--metric` goes before it.", ""},
    {"", "gate.undecided", SettingKind::outcome, &Settings::gate_undecided_fails, kInProjectFile,
     "`\"pass\"`", "What becomes of those rules that noise leaves open; `--undecided` goes before it.", ""},
    {"", "gate.allow_empty", SettingKind::flag, &Settings::gate_allow_empty, kInProjectFile, "`false`",
     "Those rules may match nothing, as `--allow-empty` has it.", ""},
    {"sets", "sets", SettingKind::sets, &Settings::sets, kEverywhere, "none",
     "Named [sets of frames](kinds.md#sets-of-your-own), beside those that come with profd: each a table of "
     "expressions, by its name. One of the same name in `.profd.toml` adds to it.",
     "Named [sets of frames](kinds.md#sets-of-your-own), beside those that come with profd: `[sets.NAME]`."},
    {"tips", "tips", SettingKind::tips, &Settings::tips, kEverywhere, "none",
     "[Tips](tips.md#tips-of-your-own) by rules of your own, beside those that come with profd.",
     "[Tips](tips.md#tips-of-your-own) by rules of your own, beside those that come with profd: `[[tips]]`."},
    {"tipsOff", "tips_off", SettingKind::names, &Settings::tips_off, kEverywhere, "none",
     "[Tips](tips.md#the-rules) that are not given, by their ids; `\"all\"` gives none.", ""},
    {"symbols", "symbols", SettingKind::flag, &Settings::symbols, kEverywhere | kInConfiguration, "`true`",
     "Functions, lines and inlined calls of profiles that have addresses alone are looked for in their "
     "binaries as they are "
     "opened ([symbols](symbols.md)), as are those of callers in copied stacks.",
     ""},
    {"debugDirectories", "", SettingKind::names, &Settings::debug_directories,
     kInitially | kAtAnyTime | kInConfiguration, "none",
     "Folders with binaries and their debug information, as absolute paths or `file:` URIs: looked in before "
     "those of the "
     "system, by build id and by name.",
     ""},
    {"debuginfod", "", SettingKind::consent, &Settings::debuginfod,
     kInitially | kAtAnyTime | kInConfiguration, "`\"off\"`",
     "Whether debug information that is not here is fetched from servers "
     "([symbols](symbols.md#from-servers)), which learn the build ids of what was profiled: `ask` says what "
     "could be "
     "fetched and does so when told, `on` does it by itself. Where nobody sets it, the daemon's environment "
     "variable "
     "`PROFD_DEBUGINFOD` counts.",
     ""},
    {"debuginfodUrls", "", SettingKind::servers, &Settings::debuginfod_urls,
     kInitially | kAtAnyTime | kInConfiguration, "those of the environment variable `DEBUGINFOD_URLS`",
     "The servers, by address. They are asked for nothing unless `debuginfod` says so.", ""},
    {"projectFile", "", SettingKind::flag, &Settings::project_file, kInitially | kFromPage, "`true`",
     "Of `initializationOptions` alone: false, and `.profd.toml` is not looked at. For folders that nobody "
     "trusts yet.",
     ""},
    {"profiles", "", SettingKind::names, std::monostate(), kInitially, "none",
     "Of `initializationOptions` alone: profiles to open, as paths (relative ones are of the first root) or "
     "URIs, beside those of `.profd.toml`; the first is the one that is meant.",
     ""},
    {"token", "", SettingKind::text, std::monostate(), kInitially, "none",
     "Of `initializationOptions` alone: the secret of a daemon that listens on TCP.", ""},
}};

constexpr std::size_t kMaxNameBytes = 1000;

// One value of one setting, on its way into Settings.
class Taker {
 public:
  Taker(const Setting& setting, const SettingsOrigin& origin, std::vector<std::string>& problems)
      : setting_(setting), origin_(origin), problems_(problems) {}

  void wrong(const SettingValue& value, std::string_view expected) {
    say(value, fmt::format("{} {}", in_project() ? "must be" : "expected", expected));
  }

  void take(const SettingValue& value, std::optional<bool>& to) {
    if (setting_.kind == SettingKind::outcome) {
      if (value.kind != SettingValue::Kind::text || (value.text != "pass" && value.text != "fail"))
        return wrong(value, "\"pass\" or \"fail\"");
      to = value.text == "fail";
      return;
    }
    if (value.kind != SettingValue::Kind::flag) return wrong(value, "true or false");
    to = value.flag;
  }
  void take(const SettingValue& value, std::optional<double>& to) {
    if (value.kind != SettingValue::Kind::number || !(value.number >= 0 && value.number <= 1))
      return wrong(value, "a share from 0 to 1");
    to = value.number;
  }
  void take(const SettingValue& value, std::optional<std::string>& to) {
    if (value.kind != SettingValue::Kind::text) return wrong(value, "a text");
    if (setting_.kind == SettingKind::consent && !fetch_consent_of(value.text))
      return wrong(value, "\"off\", \"ask\" or \"on\"");
    to = value.text;
  }
  void take(const SettingValue& value, std::vector<std::string>& to) {
    if (setting_.kind == SettingKind::globs) return take_globs(value, to);
    const SettingValue list = as_list(value);
    const bool fits = list.n_entries <= most() && all_texts(list) &&
                      std::all_of(list.items.begin(), list.items.end(),
                                  [](const SettingValue& item) { return item.text.size() <= kMaxNameBytes; });
    if (list.kind != SettingValue::Kind::list || !fits)
      return wrong(value, fmt::format("a list of at most {} texts", most()));
    for (const SettingValue& item : list.items) {
      if (setting_.kind == SettingKind::servers && !is_server(item.text))
        wrong(item, "addresses that begin with http:// or https://");
      else
        to.push_back(item.text);
    }
  }
  void take(const SettingValue& value, std::vector<Filter>& to) {
    const SettingValue list = as_list(value);
    if (list.kind != SettingValue::Kind::list || list.n_entries > most())
      return wrong(value, fmt::format("a list of at most {} filters as text", most()));
    for (const SettingValue& item : list.items) {
      if (item.kind != SettingValue::Kind::text) {
        wrong(item, "a text");
        continue;
      }
      auto filters = parse_filters(item.text);
      if (!filters)
        say(item, fmt::format("\"{}\": {}", item.text, describe(filters.error())));
      else
        std::move(filters->begin(), filters->end(), std::back_inserter(to));
    }
  }
  void take(const SettingValue& value, std::vector<GateRule>& to) {
    const SettingValue list = as_list(value);
    if (list.kind != SettingValue::Kind::list || list.n_entries > most())
      return wrong(value, fmt::format("a list of at most {} rules as text", most()));
    for (const SettingValue& item : list.items) {
      if (item.kind != SettingValue::Kind::text) {
        wrong(item, "a text");
        continue;
      }
      auto rule = parse_gate_rule(item.text);
      if (!rule)
        say(item, fmt::format("\"{}\": {}", cut_bytes(item.text, kMaxNameBytes), rule.error().message));
      else
        to.push_back(std::move(*rule));
    }
  }
  void take(const SettingValue& value, std::map<std::string, std::vector<Filter>, std::less<>>& to) {
    if (value.kind != SettingValue::Kind::table || value.n_entries > most())
      return wrong(value,
                   fmt::format("an object of lists of filters, by the URIs of at most {} profiles", most()));
    for (const auto& [uri, list] : value.members) {
      // As profiles are called: one file is one key, however it is spelled.
      const auto path = path_of_uri(uri);
      take(list, to[path ? uri_of_path(*path) : uri]);
    }
  }
  void take(const SettingValue& value, std::vector<DerivedMetric>& to) {
    if (value.kind != SettingValue::Kind::table || value.n_entries > most())
      return wrong(value, fmt::format("a table of at most {} formulas by name", most()));
    for (const auto& [name, given] : value.members) {
      const SettingValue* formula = given.kind == SettingValue::Kind::text ? &given : given.member("formula");
      const SettingValue* unit = given.member("unit");
      const auto is_text = [](const SettingValue* one) { return one->kind == SettingValue::Kind::text; };
      if (formula == nullptr || !is_text(formula) || (unit != nullptr && !is_text(unit))) {
        say(given, fmt::format("{}: a formula as text, or a table of `formula` and `unit`",
                               cut_bytes(name, kMaxNameBytes)));
        continue;
      }
      DerivedMetric metric{name, formula->text, unit == nullptr ? "" : unit->text};
      if (const auto right = check_derived_metric(metric); !right)
        say(given, fmt::format("{}: {}", cut_bytes(name, kMaxNameBytes), right.error().message));
      else
        to.push_back(std::move(metric));
    }
  }
  void take(const SettingValue& value, std::vector<FrameSet>& to) {
    if (value.kind != SettingValue::Kind::table || value.n_entries > most())
      return wrong(value, fmt::format("a table of at most {} sets by name", most()));
    // Their order counts: as they are written, where that is known.
    std::vector<const NamedValue*> members;
    for (const NamedValue& member : value.members) members.push_back(&member);
    std::stable_sort(members.begin(), members.end(),
                     [](const NamedValue* a, const NamedValue* b) { return a->value.line < b->value.line; });
    for (const NamedValue* member : members)
      if (auto set = frame_set_of(member->name, member->value,
                                  [&](const SettingValue& at, const std::string& what) { say(at, what); }))
        to.push_back(std::move(*set));
  }
  void take(const SettingValue& value, std::vector<TipRule>& to) {
    if (value.kind != SettingValue::Kind::list || value.n_entries > most())
      return wrong(value, fmt::format("a list of at most {} rules", most()));
    for (const SettingValue& item : value.items)
      if (auto rule =
              tip_rule_of(item, [&](const SettingValue& at, const std::string& what) { say(at, what); }))
        to.push_back(std::move(*rule));
  }
  void take(const SettingValue& value, std::vector<PathMapping>& to) {
    if (value.kind != SettingValue::Kind::list)
      return wrong(value, in_project() ? "a list: [[map]]" : kMappingForm);
    std::size_t n_looked_at = 0;
    for (const SettingValue& item : value.items) {
      if (to.size() >= most()) break;
      ++n_looked_at;
      take_mapping(item, to);
    }
    if (n_looked_at < value.n_entries)
      say(value, fmt::format("{} are used, {} are given", to.size(), value.n_entries));
  }

 private:
  [[nodiscard]] bool in_project() const { return origin_.place == kInProjectFile; }
  [[nodiscard]] std::size_t most() const { return most_entries(setting_.kind); }

  // `.profd.toml` has it on a line; what a client set has no place but its name.
  void say(const SettingValue& value, std::string_view what) {
    problems_.push_back(
        in_project() ? fmt::format("{}:{}: {} {}", origin_.file, value.line, setting_.project_key, what)
                     : fmt::format("setting {}: {}", setting_.key, what));
  }

  // In a project file a single text stands for a list of one.
  [[nodiscard]] SettingValue as_list(const SettingValue& value) const {
    if (!in_project() || value.kind != SettingValue::Kind::text) return value;
    SettingValue list;
    list.kind = SettingValue::Kind::list;
    list.n_entries = 1;
    list.line = value.line;
    list.items.push_back(value);
    return list;
  }
  static bool all_texts(const SettingValue& list) {
    return std::all_of(list.items.begin(), list.items.end(),
                       [](const SettingValue& item) { return item.kind == SettingValue::Kind::text; });
  }

  [[nodiscard]] std::string project_folder() const {
    return std::filesystem::path(origin_.file).parent_path().string();
  }
  // Absolute, and inside of the project's folder by its text; nothing otherwise, which is said.
  std::optional<std::string> inside_project(const SettingValue& value, const std::string& path,
                                            std::string_view advice) {
    const std::string folder = project_folder();
    std::string absolute = (std::filesystem::path(folder) / path).lexically_normal().string();
    if (lies_inside(folder, absolute)) return absolute;
    say(value, outside_text(path, advice));
    return std::nullopt;
  }

  void take_globs(const SettingValue& value, std::vector<std::string>& to) {
    const SettingValue list = as_list(value);
    if (list.kind != SettingValue::Kind::list) return wrong(value, "a list of texts");
    for (const SettingValue& item : list.items) {
      if (item.kind != SettingValue::Kind::text)
        wrong(item, "a list of texts");
      else if (auto glob = inside_project(item, item.text, "name it in profile/open"))
        to.push_back(std::move(*glob));
    }
  }

  void take_mapping(const SettingValue& item, std::vector<PathMapping>& to) {
    const SettingValue *from = item.member("from"), *target = item.member("to");
    const auto is_text = [](const SettingValue* value) {
      return value != nullptr && value->kind == SettingValue::Kind::text;
    };
    if (!is_text(from) || !is_text(target))
      return in_project() ? say(item, "needs `from` and `to`") : wrong(item, kMappingForm);
    if (in_project()) {
      if (auto folder =
              inside_project(item, target->text, "such mappings belong into the client's `pathMappings`"))
        to.push_back({from->text, std::move(*folder)});
      return;
    }
    auto folder = path_of_uri(target->text);
    if (!folder) return wrong(item, kMappingForm);
    to.push_back({from->text, std::move(*folder)});
  }

  static constexpr std::string_view kMappingForm = "a list of {from, to} with absolute `to`";
  const Setting& setting_;
  const SettingsOrigin& origin_;
  std::vector<std::string>& problems_;
};

}  // namespace

std::span<const Setting> all_settings() {
  return kSettings;
}

std::size_t most_entries(SettingKind kind) {
  switch (kind) {
    case SettingKind::mappings:
    case SettingKind::rules:
      return 1000;
    case SettingKind::names:
    case SettingKind::filters:
    case SettingKind::filters_by_profile:
    case SettingKind::tips:
      return 100;
    case SettingKind::sets:
      return 32;
    case SettingKind::servers:
      return 20;
    case SettingKind::formulas:
      return kMaxDerivedMetrics;
    default:
      return SIZE_MAX;
  }
}

const SettingValue* SettingValue::member(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const NamedValue& member) { return member.name == name; });
  return found == members.end() ? nullptr : &found->value;
}

void take_setting(const Setting& setting, const SettingValue& value, const SettingsOrigin& origin,
                  Settings& settings, std::vector<std::string>& problems) {
  Taker taker(setting, origin, problems);
  if ((origin.place & ~setting.places & kFromPage) != 0)
    return problems.push_back(
        fmt::format("setting {}: not taken from a page, which chooses no folders", setting.key));
  std::visit(
      [&](const auto& member) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(member)>, std::monostate>)
          taker.take(value, settings.*member);
      },
      setting.member);
}

}  // namespace profd
