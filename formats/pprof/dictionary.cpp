#include "formats/pprof/dictionary.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/support/base_name.h"
#include "formats/pprof/prune.h"
#include "formats/support/loaded_modules.h"

namespace profd::pprof {
namespace {

std::string at(const char* table, std::size_t row) {
  return std::string(table) + '[' + std::to_string(row) + ']';
}

// The format keeps the id 0 for "none". Writers that count from 0 mean the row that has it; one that forgets
// the ids of a table means its rows in order, from 1.
template <class Table>
Result<IdMap> map_ids(const std::vector<Table>& table, const char* name, ImportReport& report) {
  std::vector<std::uint64_t> ids;
  ids.reserve(table.size());
  for (const Table& row : table) ids.push_back(row.id);
  if (ids.size() > 1 && std::all_of(ids.begin(), ids.end(), [](std::uint64_t id) { return id == 0; })) {
    for (std::size_t row = 0; row < ids.size(); ++row) ids[row] = row + 1;
    report.add("id-missing", Severity::info,
               std::string("no ") + name + " has an id; they were numbered in order from 1");
  }
  IdMap map;
  std::size_t bad = 0;
  if (!map.build(ids, bad))
    return fail(ErrorCode::malformed,
                at(name, bad) + " has the id " + std::to_string(ids[bad]) + " of another " + name);
  if (const std::uint32_t row = map[0]; row != kNone)
    report.add("id-zero", Severity::info,
               at(name, row) +
                   " has the id 0, which the format keeps for none; what names 0, or names none, " +
                   "was taken to mean it");
  return map;
}

std::uint32_t line_number(std::int64_t line) {
  return line > 0 && line < std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(line) : 0;
}

class Builder {
 public:
  Builder(const Records& records, ProfileBuilder& builder, ImportReport& report)
      : r_(records), builder_(builder), report_(report), modules_(builder) {}

  Result<Dictionary> run() {
    PROFD_CHECK(check_strings());
    string_ids_.assign(r_.strings.size(), kNone);
    std::size_t n_bytes = 0;
    for (const std::string_view text : r_.strings) n_bytes += text.size();
    builder_.reserve(r_.strings.size(), n_bytes, r_.functions.size(), r_.lines.size());
    PROFD_CHECK(add_mappings());
    PROFD_CHECK(add_functions());
    PROFD_TRY(const std::string_view drop, r_.string(r_.drop_frames, "drop_frames"));
    PROFD_TRY(const std::string_view keep, r_.string(r_.keep_frames, "keep_frames"));
    PROFD_TRY(rule_, PruneRule::make(drop, keep));
    PROFD_CHECK(add_locations());
    return std::move(out_);
  }

 private:
  Result<void> check_strings() {
    if (!r_.strings.empty() && !r_.strings.front().empty())
      return fail(ErrorCode::malformed, "string_table[0] is not empty");
    return {};
  }

  Result<void> add_mappings() {
    PROFD_TRY(mapping_row_, map_ids(r_.mappings, "mapping", report_));
    for (std::size_t i = 0; i < r_.mappings.size(); ++i) {
      const Mapping& m = r_.mappings[i];
      PROFD_TRY(const std::string_view name, r_.string(m.filename, at("mapping", i) + ".filename"));
      PROFD_TRY(const std::string_view build_id, r_.string(m.build_id, at("mapping", i) + ".build_id"));
      modules_.add({name, build_id, m.start, m.limit, m.offset});
      kernel_.push_back(name.starts_with("[kernel") || name.starts_with("[guest.kernel"));
      // Code that no symbol names is shown under its module.
      FunctionSpec unknown;
      unknown.name = builder_.string(name.empty()          ? "[unknown]"
                                     : name.front() == '[' ? std::string(name)
                                                           : '[' + std::string(base_name(name)) + ']');
      unknown.unresolved = true;
      unknown_.push_back(builder_.function(unknown));
    }
    if (!r_.mappings.empty() && !kernel_.front()) {
      PROFD_TRY(const std::string_view program,
                r_.string(r_.mappings.front().filename, "mapping[0].filename"));
      builder_.info().program = program;
    }
    return {};
  }

  Result<void> add_functions() {
    PROFD_TRY(function_row_, map_ids(r_.functions, "function", report_));
    functions_.reserve(r_.functions.size());
    for (std::size_t i = 0; i < r_.functions.size(); ++i) {
      const Function& f = r_.functions[i];
      if (!has_string(f.name) || !has_string(f.system_name) || !has_string(f.filename))
        return bad_function(i);
      const StringId name = string_id(f.name), system_name = string_id(f.system_name);
      FunctionSpec spec;
      spec.name = name.v == 0 ? system_name : name;
      spec.system_name = system_name == name || name.v == 0 ? StringId{0u} : system_name;
      spec.file = string_id(f.filename);
      spec.start_line = line_number(f.start_line);
      functions_.push_back(spec.name.v == 0 ? FunctionId{} : builder_.function(spec));
    }
    return {};
  }

  bool has_string(std::uint64_t index) const { return index < r_.strings.size() || index == 0; }

  // Texts of the file are looked up once each, whatever names them.
  StringId string_id(std::uint64_t index) {
    if (index >= string_ids_.size()) return StringId{0u};
    std::uint32_t& id = string_ids_[static_cast<std::size_t>(index)];
    if (id == kNone) id = builder_.string(r_.strings[static_cast<std::size_t>(index)]).v;
    return StringId{id};
  }

  tl::unexpected<Error> bad_function(std::size_t i) const {
    const Function& f = r_.functions[i];
    const auto [index, field] = !has_string(f.name)          ? std::pair(f.name, ".name")
                                : !has_string(f.system_name) ? std::pair(f.system_name, ".system_name")
                                                             : std::pair(f.filename, ".filename");
    return tl::unexpected<Error>(r_.string(index, at("function", i) + field).error());
  }

  FunctionId unknown_function(std::uint32_t mapping) {
    if (mapping != kNone) return unknown_[mapping];
    if (!nowhere_.valid()) {
      FunctionSpec spec;
      spec.name = builder_.string("[unknown]");
      spec.unresolved = true;
      nowhere_ = builder_.function(spec);
    }
    return nowhere_;
  }

  Result<void> add_locations() {
    PROFD_TRY(out_.location_row, map_ids(r_.locations, "location", report_));
    out_.first_frame.reserve(r_.locations.size() + 1);
    out_.first_frame.push_back(0);
    if (rule_.active()) out_.prune.assign(r_.locations.size(), Prune::no);
    for (std::size_t i = 0; i < r_.locations.size(); ++i) {
      const Location& location = r_.locations[i];
      const std::uint32_t mapping = mapping_row_[location.mapping_id];
      if (location.mapping_id != 0 && mapping == kNone)
        report_.add("unknown-mapping", Severity::loss,
                    "A location names a mapping that is not in the file; its module is unknown.");
      if (location.is_folded)
        report_.add(
            "folded-location", Severity::info,
            "Several symbols share the address of a location (identical code folding); one is shown.");
      FrameSpec frame;
      const LoadedModules::Place place = mapping == kNone ? LoadedModules::Place{{}, location.address}
                                                          : modules_.at(mapping, location.address);
      frame.module = place.module;
      frame.address = place.address;
      frame.kind = mapping != kNone && kernel_[mapping] ? FrameKind::kernel : FrameKind::native;
      if (location.n_lines == 0) {
        frame.function = unknown_function(mapping);
        out_.frames.push_back(builder_.frame(frame).v);
      }
      std::uint32_t first_shown = 0;
      PROFD_TRY(first_shown, lines_to_drop(i));
      for (std::uint32_t l = location.n_lines; l-- > first_shown;) {
        const Line& line = r_.lines[location.first_line + l];
        PROFD_TRY(frame.function, function_of(line, i, l, mapping));
        frame.line = line_number(line.line);
        frame.column = line_number(line.column);
        frame.inlined = l + 1 < location.n_lines;
        out_.frames.push_back(builder_.frame(frame).v);
      }
      out_.first_frame.push_back(static_cast<std::uint32_t>(out_.frames.size()));
    }
    out_.quick.resize(out_.location_row.dense_size());
    for (std::size_t id = 0; id < out_.quick.size(); ++id) {
      const std::uint32_t row = out_.location_row[id];
      if (row == kNone) continue;
      const std::uint32_t first = out_.first_frame[row], n = out_.first_frame[row + 1] - first;
      if (n <= FewFrames::kMost && first < FewFrames::kMostPlaces) out_.quick[id].packed = first << 3 | n;
    }
    out_.frames.resize(out_.frames.size() + FewFrames::kMost);
    return {};
  }

  Result<FunctionId> function_of(const Line& line, std::size_t location, std::uint32_t l,
                                 std::uint32_t mapping) {
    const std::uint32_t row = function_row_[line.function_id];
    if (row == kNone) {
      if (line.function_id == 0) return unknown_function(mapping);
      return fail(ErrorCode::malformed, at("location", location) + ".line[" + std::to_string(l) +
                                            "] names function " + std::to_string(line.function_id) +
                                            ", which is not in the file");
    }
    return functions_[row].valid() ? functions_[row] : unknown_function(mapping);
  }

  // How many of a location's lines, leaf first, drop_frames removes; sets out_.prune.
  Result<std::uint32_t> lines_to_drop(std::size_t i) {
    const Location& location = r_.locations[i];
    if (!rule_.active()) return 0;
    for (std::uint32_t l = location.n_lines; l-- > 0;) {
      const std::uint32_t row = function_row_[r_.lines[location.first_line + l].function_id];
      if (row == kNone) continue;
      PROFD_TRY(const std::string_view name, r_.string(r_.functions[row].name, "function.name"));
      if (!rule_.drops(name)) continue;
      if (l + 1 == location.n_lines) {
        out_.prune[i] = Prune::whole;
        return 0;
      }
      out_.prune[i] = Prune::beneath;
      return l + 1;
    }
    return 0;
  }

  const Records& r_;
  ProfileBuilder& builder_;
  ImportReport& report_;
  Dictionary out_;
  PruneRule rule_;
  IdMap mapping_row_, function_row_;
  LoadedModules modules_;  // by row of mappings
  std::vector<bool> kernel_;
  std::vector<FunctionId> unknown_, functions_;
  std::vector<std::uint32_t> string_ids_;  // by index in the file's table; kNone = not met yet
  FunctionId nowhere_;
};

}  // namespace

Result<Dictionary> build_dictionary(const Records& records, ProfileBuilder& builder, ImportReport& report) {
  return Builder(records, builder, report).run();
}

}  // namespace profd::pprof
