#include "core/source/mapped_scripts.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/model/rewrite.h"
#include "core/source/script_functions.h"

namespace profd {
namespace {

bool is_script(std::string_view file) {
  file = file.substr(0, file.find_first_of("?#"));
  return file.ends_with(".js") || file.ends_with(".mjs") || file.ends_with(".cjs");
}

// Has no name, or one that profilers make up.
bool is_nameless(std::string_view name) {
  return name.empty() || name.front() == '(' || name.front() == '<';
}

// Looking for a name can take as long as a class is large: of more functions than any real script has, the
// rest keep theirs.
constexpr std::uint32_t kMostNames = 50'000, kMostChecked = 2000;

// Where code of a script is in its source. Lines and columns from 1, 0 unknown.
struct SourcePlace {
  StringId file;
  std::uint32_t line = 0, column = 0;
};

class Mapping {
 public:
  Mapping(const Profile& profile, const std::unordered_map<std::uint32_t, const Script*>& by_file)
      : in_(profile), by_file_(by_file), functions_(profile.functions().size()) {}

  Result<MappedScripts> run(StopToken stop) && {
    Rewrite how;
    how.frames = [this](FrameId frame, RewriteTables& tables, StandIns& out) -> Result<void> {
      out.frames.push_back(stand_in(frame, tables));
      return {};
    };
    MappedScripts out;
    PROFD_TRY(out.profile, rewrite(in_, how, std::move(stop)));
    out.counts = std::move(counts_);
    return out;
  }

 private:
  struct MappedFunction {
    bool made = false, mapped = false;
    FunctionId function;  // of the new profile
    StringId file{0u};    // of the new profile
  };

  const Script* script_of(StringId file) const {
    const auto found = by_file_.find(file.v);
    return found == by_file_.end() ? nullptr : found->second;
  }

  static StringId source_file(const Script& script, std::uint32_t source, RewriteTables& tables) {
    return tables.string(script.map.sources[source]);
  }

  // `unclear`: several source lines are there, and nothing says which.
  static std::optional<SourcePlace> place(const Script& script, std::uint32_t line, std::uint32_t column,
                                          std::uint32_t line_begin, RewriteTables& tables, bool& unclear) {
    if (line == 0) return std::nullopt;
    const ScriptMap& map = script.map;
    if (column != 0) {
      const std::uint32_t at = map.find(line - 1, column - 1);
      if (at == kNone || map.source[at] == kNone) return std::nullopt;
      return SourcePlace{source_file(script, map.source[at], tables), map.source_line[at] + 1,
                         map.source_column[at] + 1};
    }
    const auto only = only_line(map, line - 1, line_begin == 0 ? 0 : line_begin - 1);
    if (only) return SourcePlace{source_file(script, only->source, tables), only->line + 1, 0};
    unclear = map.find(line - 1, kNone - 1) != kNone;  // there is code of sources on the line
    return std::nullopt;
  }

  // What the map says stands where the function's name is written.
  static std::string_view mapped_name(const Script& script, std::size_t begin, std::string_view name) {
    if (is_nameless(name)) return {};
    const auto written = name_of_function(script.text.text(), begin, name);
    if (!written) return {};
    const std::uint32_t segment = segment_at(script, *written);
    return segment == kNone || script.map.name[segment] == kNone
               ? std::string_view()
               : std::string_view(script.map.names[script.map.name[segment]]);
  }

  // The segment that begins at a byte of the script.
  static std::uint32_t segment_at(const Script& script, std::size_t offset) {
    const ScriptText::Place at = script.text.place_of(offset);
    const std::uint32_t segment = script.map.find(at.line, at.column);
    return segment == kNone || script.map.column[segment] != at.column ? kNone : segment;
  }

  // What the text of the source says, where the map has it. Names that the engine gave by themselves, those
  // of a script whose map has no names, and those with dots (`t.render`: of something that is called t in the
  // script alone) say less.
  std::string_view declared_in_source(const Script& script, std::size_t begin, std::string_view name) {
    const bool less = name.empty() || name == "(anonymous)" || name.find('.') != std::string_view::npos ||
                      script.map.names.empty();
    if (!less) return {};
    const std::string_view text = script.text.text();
    const auto written = name_of_function(text, begin, name);
    // Minifiers map `a.b = function` as one.
    const std::size_t assigned = written ? start_of_reference(text, *written) : begin;
    for (const std::size_t from : {start_of_function(text, begin), begin, assigned}) {
      const std::uint32_t segment = segment_at(script, from);
      if (segment == kNone || script.map.source[segment] == kNone) continue;
      const ScriptText& source = source_text(script, script.map.source[segment]);
      const auto at = source.offset_of({script.map.source_line[segment], script.map.source_column[segment]});
      if (!at) continue;
      if (const std::string_view declared = declared_name(source.text(), *at); !declared.empty())
        return declared;
    }
    return {};
  }

  const ScriptText& source_text(const Script& script, std::uint32_t source) {
    const std::string& content = script.map.contents[source];
    const auto known = source_texts_.find(&content);
    return known != source_texts_.end() ? known->second
                                        : source_texts_.emplace(&content, ScriptText(content)).first->second;
  }

  std::string_view source_name(const Script& script, std::uint32_t line, std::uint32_t column,
                               std::string_view name) {
    const auto begin = script.text.offset_of({line - 1, column - 1});
    if (!begin || ++n_names_ > kMostNames) return {};
    const std::string_view known = mapped_name(script, *begin, name);
    return known.empty() ? declared_in_source(script, *begin, name) : known;
  }

  // A function that begins at a place of the script.
  MappedFunction function_at(FunctionId id, const Script& script, std::uint32_t line, std::uint32_t column,
                             RewriteTables& tables) {
    MappedFunction out;
    const FunctionTable& functions = in_.functions();
    std::optional<SourcePlace> at;
    const bool is_whole = line == 1 && column <= 1;
    if (is_whole) {
      if (script.map.sources.size() != 1) return out;
      at = SourcePlace{source_file(script, 0, tables), 1, 1};
    } else {
      bool unclear = false;
      at = place(script, line, column, 0, tables, unclear);
    }
    if (!at) return out;
    const std::string_view name = in_.function_name(id);
    const std::string_view better =
        column == 0 || is_whole ? std::string_view() : source_name(script, line, column, name);
    FunctionSpec spec;
    spec.name = better.empty() ? tables.copy(functions.name[id.v]) : tables.string(better);
    const bool renamed = !better.empty() && better != name && !is_nameless(name);
    spec.system_name = tables.copy(
        renamed && functions.system_name[id.v].v == 0 ? functions.name[id.v] : functions.system_name[id.v]);
    spec.file = at->file;
    spec.start_line = at->line;
    spec.start_column = at->column;
    out.mapped = true;
    out.function = tables.function(spec);
    out.file = at->file;
    return out;
  }

  const MappedFunction& mapped(FunctionId id, RewriteTables& tables) {
    MappedFunction& known = functions_[id.v];
    if (known.made) return known;
    const FunctionTable& functions = in_.functions();
    if (const Script* script = script_of(functions.file[id.v]);
        script != nullptr && functions.start_line[id.v] != 0)
      known = function_at(id, *script, functions.start_line[id.v], functions.start_column[id.v], tables);
    known.made = true;
    return known;
  }

  FrameId stand_in(FrameId id, RewriteTables& tables) {
    const FrameTable& frames = in_.frames();
    const FunctionTable& functions = in_.functions();
    const FunctionId old = frames.function[id.v];
    const Script* const script = script_of(frames.file[id.v]);
    if (script == nullptr && script_of(functions.file[old.v]) == nullptr) return tables.copy(id);
    const std::uint32_t line = frames.line[id.v], column = frames.column[id.v];

    MappedFunction function = mapped(old, tables);
    // Where a source says no more than where its frames are, those of callers, too, that may be their
    // functions' places.
    if (!function.mapped && script != nullptr && functions.start_line[old.v] == 0 && line != 0 &&
        column != 0) {
      const auto begin = script->text.offset_of({line - 1, column - 1});
      const std::string_view name = in_.function_name(old);
      if (begin && !is_nameless(name) && ++n_names_ <= kMostNames &&
          name_of_function(script->text.text(), *begin, name))
        function = function_at(old, *script, line, column, tables);
    }

    FrameSpec spec;
    spec.module = tables.copy(frames.module[id.v]);
    spec.line = line;
    spec.column = column;
    spec.address = frames.address[id.v];
    spec.kind = frames.kind[id.v];
    spec.inlined = frames.inlined[id.v] != 0;
    ScriptCounts& counts = counts_[(script != nullptr ? frames.file[id.v] : functions.file[old.v]).v];
    bool unclear = false;
    std::optional<SourcePlace> at;
    if (script != nullptr)
      at = place(*script, line, column,
                 line == functions.start_line[old.v] ? functions.start_column[old.v] : 0, tables, unclear);
    if (at) {
      spec.line = at->line;
      spec.column = at->column;
      spec.file = at->file;
    } else if (function.mapped) {
      spec.line = spec.column = 0;
    } else {
      spec.file = tables.copy(frames.file[id.v]);
    }
    spec.function = function.mapped ? function.function : tables.copy(old);
    if (spec.file == function.file) spec.file = StringId{0u};
    counts.n_mapped += function.mapped || at ? 1 : 0;
    counts.n_without_source += !function.mapped && !at ? 1 : 0;
    counts.n_unclear_lines += unclear ? 1 : 0;
    return tables.frame(spec);
  }

  const Profile& in_;
  const std::unordered_map<std::uint32_t, const Script*>& by_file_;
  std::vector<MappedFunction> functions_;  // by function of the source
  std::unordered_map<const std::string*, ScriptText> source_texts_;
  std::uint32_t n_names_ = 0;  // that were looked for
  std::unordered_map<std::uint32_t, ScriptCounts> counts_;
};

}  // namespace

std::vector<ProfiledScript> scripts_of(const Profile& profile) {
  const FrameTable& frames = profile.frames();
  std::unordered_map<std::uint32_t, double> self;  // by file
  std::vector<std::uint8_t> seen(profile.strings().size(), 0);
  const auto add = [&](StringId file) {
    if (std::exchange(seen[file.v], std::uint8_t{1}) != 0) return;
    if (is_script(profile.strings()[file])) self.emplace(file.v, 0.0);
  };
  for (std::size_t f = 0; f < frames.size(); ++f) {
    add(frames.file[f]);
    add(profile.functions().file[frames.function[f].v]);
  }
  if (self.empty() || profile.metrics().empty()) return {};
  const MetricId metric = profile.default_metric();
  std::visit(
      [&](const auto& values) {
        for (std::size_t row = 0; row < values.size(); ++row) {
          const std::uint32_t context = profile.self().contexts[row];
          if (context == 0) continue;
          const std::uint32_t frame = profile.tree().frame[context];
          StringId file = frames.file[frame];
          if (file.v == 0) file = profile.functions().file[frames.function[frame].v];
          if (const auto at = self.find(file.v); at != self.end())
            at->second += static_cast<double>(values[row]);
        }
      },
      profile.self().values[metric.v]);
  const double total = as_double(profile.total(metric));
  std::vector<ProfiledScript> out;
  for (const auto& [file, sum] : self) out.push_back({StringId{file}, total == 0 ? 0 : sum / total, {}});
  std::sort(out.begin(), out.end(), [](const ProfiledScript& a, const ProfiledScript& b) {
    return a.share != b.share ? a.share > b.share : a.file < b.file;
  });
  std::unordered_map<std::uint32_t, std::size_t> row_of;
  for (std::size_t row = 0; row < out.size(); ++row) row_of.emplace(out[row].file.v, row);
  for (std::size_t f = 0; f < profile.functions().size(); ++f)
    if (const auto at = row_of.find(profile.functions().file[f].v); at != row_of.end())
      out[at->second].functions.push_back(FunctionId{f});
  return out;
}

ScriptEvidence script_evidence(const Profile& profile, const ProfiledScript& named,
                               const ScriptText& script) {
  ScriptEvidence out;
  const FunctionTable& functions = profile.functions();
  for (const FunctionId function : named.functions) {
    const std::uint32_t f = function.v, line = functions.start_line[f], column = functions.start_column[f];
    if (line == 0 || column == 0 || (line == 1 && column == 1)) continue;
    if (out.n_places == kMostChecked) break;
    ++out.n_places;
    const std::string_view name = profile.strings()[functions.name[f]];
    const bool has_name = !is_nameless(name);
    out.n_named += has_name ? 1 : 0;
    const auto at = script.offset_of({line - 1, column - 1});
    if (!at || !may_begin_function(script.text(), *at)) continue;
    ++out.n_fitting;
    out.n_named_fitting += has_name && name_of_function(script.text(), *at, name) ? 1 : 0;
  }
  return out;
}

bool is_map_of(const ScriptMap& map, const ScriptText& script) {
  constexpr std::size_t kLookedAt = 4000;
  const std::size_t step = map.size() / kLookedAt + 1;
  std::size_t n = 0, n_wrong = 0;
  for (std::size_t i = 0; i < map.size(); i += step) {
    if (map.source[i] == kNone) continue;
    ++n;
    const auto at = script.offset_of({map.line[i], map.column[i]});
    n_wrong += !at || is_in_word(script.text(), *at) ? 1 : 0;
  }
  return n_wrong * 20 <= n;
}

Result<MappedScripts> map_scripts(const Profile& profile,
                                  const std::unordered_map<std::uint32_t, const Script*>& by_file,
                                  StopToken stop) {
  return Mapping(profile, by_file).run(std::move(stop));
}

}  // namespace profd
