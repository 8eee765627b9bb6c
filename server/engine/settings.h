// Settings: what a person may set, and the one table of it. The readers of .profd.toml and of what clients
// set, the tables of docs/settings.md and the schemas for editors are made of the table; the manifests of
// clients are compared with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/compare/gate_rule.h"
#include "core/source/path_index.h"
#include "core/view/derived_metric.h"
#include "core/view/frame_sets.h"
#include "core/view/spec.h"
#include "server/engine/tip_rule.h"

namespace profd {

// What one place says: a client, or a project file. Where it says nothing the next one counts (Workspace).
struct Settings {
  std::optional<double> threshold;
  std::optional<bool> code_lens, assembly_lens, inlay_hints, diagnostics, project_file, symbols, source_maps;
  std::optional<std::string> metric;
  std::vector<std::string> profiles;  // absolute globs
  std::vector<PathMapping> mappings;  // `to` absolute
  std::vector<Filter> filters;
  std::map<std::string, std::vector<Filter>, std::less<>> profile_filters;  // by URI
  std::vector<std::string> mine;                                            // see mine.h
  std::vector<DerivedMetric> derived;                                       // metrics by formula
  std::vector<std::string> debug_directories;                               // paths or URIs, as given
  std::optional<std::string> debuginfod;                                    // fetch_consent_of()
  std::vector<std::string> debuginfod_urls;                                 // is_server()
  std::vector<GateRule> gate_rules;
  std::optional<std::string> gate_metric;
  std::optional<bool> gate_undecided_fails, gate_allow_empty;
  std::vector<FrameSet> sets;         // named sets of frames
  std::vector<TipRule> tips;          // rules of tips
  std::vector<std::string> tips_off;  // tips that are not given, by id
};

enum class SettingKind : std::uint8_t {
  flag,
  share,  // 0 to 1
  text,
  names,  // a list of texts
  globs,  // a list of paths with wildcards
  filters,
  filters_by_profile,
  mappings,
  formulas,  // a table of formulas by name
  rules,     // of a gate
  outcome,   // "pass" or "fail", where true is fail
  sets,      // a table of sets of frames by name
  tips,      // a list of rules of tips
  consent,   // "off", "ask" or "on"
  servers    // a list of http: and https: addresses
};

// Where a setting may stand, as bits.
using SettingPlaces = std::uint8_t;
constexpr SettingPlaces kInProjectFile = 1;    // .profd.toml
constexpr SettingPlaces kInitially = 2;        // initializationOptions of `initialize`
constexpr SettingPlaces kAtAnyTime = 4;        // settings of workspace/didChangeConfiguration
constexpr SettingPlaces kInConfiguration = 8;  // what the configuration of an editor has, as profd.<key>
constexpr SettingPlaces kFromPage = 16;        // also from who came over HTTP, who chooses no folders

struct Setting {
  // Where the value goes; monostate: `initialize` itself looks at it.
  using Member = std::variant<
      std::monostate, std::optional<bool> Settings::*, std::optional<double> Settings::*,
      std::optional<std::string> Settings::*, std::vector<std::string> Settings::*,
      std::vector<Filter> Settings::*, std::map<std::string, std::vector<Filter>, std::less<>> Settings::*,
      std::vector<PathMapping> Settings::*, std::vector<DerivedMetric> Settings::*,
      std::vector<GateRule> Settings::*, std::vector<FrameSet> Settings::*, std::vector<TipRule> Settings::*>;

  std::string_view key;          // as clients call it
  std::string_view project_key;  // as .profd.toml does; of a table TABLE.KEY
  SettingKind kind;
  Member member;
  SettingPlaces places;
  std::string_view fallback;     // in words, where nobody says anything
  std::string_view doc;          // whole sentences, in Markdown
  std::string_view project_doc;  // in place of `doc`, for .profd.toml; "" the same
};

std::span<const Setting> all_settings();

// How many entries a list may have. More filters or names are refused, more mappings left out; how many globs
// are looked for is a limit of its own (project_globs.h).
std::size_t most_entries(SettingKind kind);

struct NamedValue;
// A value as a file or a message has it, before anything is known of it.
struct SettingValue {
  enum class Kind : std::uint8_t { flag, number, text, list, table, other };
  Kind kind = Kind::other;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<SettingValue> items;  // of a list: as many as may matter
  std::vector<NamedValue> members;  // of a table: the same
  std::size_t n_entries = 0;        // of a list or table, all of them
  std::uint32_t line = 0;           // in a file, from 1

  // Null: the table has none, or it is no table.
  [[nodiscard]] const SettingValue* member(std::string_view name) const;
};
struct NamedValue {
  std::string name;
  SettingValue value;
};
// No setting has deeper values, and none that a client sets has more entries.
constexpr int kSettingDepth = 4;
constexpr std::size_t kSettingEntries = 4096;

// Where values come from.
struct SettingsOrigin {
  SettingPlaces place = kInitially;  // one of them, for clients with kFromPage beside it for a page
  std::string file;                  // of a project file: its path, whose folder nothing leads out of
};

// Takes one value into `settings`. What is wrong becomes a problem, a sentence with its place; what is right
// in it holds.
void take_setting(const Setting& setting, const SettingValue& value, const SettingsOrigin& origin,
                  Settings& settings, std::vector<std::string>& problems);

}  // namespace profd
