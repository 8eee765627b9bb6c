// A profile as a report to read from top to bottom, in the layout of the reports of virtual machines'
// profilers: sections, their functions down to a cut with the running sum, what is below as one row; on
// request where within each function its value is.
//
//   10007 samples in generated vm code (96.85% of total)
//
//   % of generated vm code (% of total) (samples) (cumulative)
//   47.32% (45.83%) Object>>at:put: (4735) (47.32%)
//       57.95% 1->26 (2744) (57.95%)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/function_ranges.h"
#include "server/feature/view_answer.h"

namespace profd {

enum class ReportSections : std::uint8_t {
  automatic,  // modules where there are two to eight of them, else kinds
  kind,       // of code, by frame: a function that was interpreted and compiled is in two
  module,
  none,
};

struct ReportRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // where sources are looked for; empty: nowhere
  ViewSpec spec;                // its filters and metric
  std::string function;         // only this one, with its ranges; "" all
  RangeUnit by = RangeUnit::automatic;
  bool ranges = false;  // of all functions that are listed
  ReportSections sections = ReportSections::automatic;
  double min_share = 0.005;  // of a section, from which on a function is listed
  std::size_t limit = 100;   // functions of a section
  std::size_t range_limit = 100;
};

struct ReportSection {
  std::string name;
  Amount amount;  // with the share of the view
  std::size_t n_functions = 0;
};

enum class ReportRowKind : std::uint8_t { function, range, others };

// Columns, all equally long.
struct ReportColumns {
  std::vector<std::uint32_t> section;
  std::vector<ReportRowKind> kind;
  std::vector<std::string> name;  // whole; no two functions of a section have the same
  std::vector<Value> self;
  // With two decimals: of the section or function; of the whole profile, "" for ranges; with the rows before.
  std::vector<std::string> share, total_share, running;
  std::vector<std::uint32_t> count;  // functions or ranges that it stands for; 0: the profile does not say
  std::vector<std::int32_t> file;    // in `files`; -1 unknown
  std::vector<std::uint32_t> line;   // 0 unknown
};

struct ReportAnswer {
  ViewHead head;
  ReportSections by = ReportSections::kind;
  std::vector<ReportSection> sections;  // largest first
  ReportColumns rows;
  std::vector<std::string> files, paths;  // as the profile calls them; in the workspace, "" not there
  std::vector<std::string> lines;         // all of it as text, without control characters
  std::vector<std::int32_t> line_rows;    // by line: the row that it shows; -1 none
};

Needs needs_of(const ReportRequest& request);
// `not_found`: nothing is called so.
Result<ReportAnswer> report_answer(Views& views, const ReportRequest& request, const StopToken& stop);

// "46.55%", "100.0%"; "n/a" of nothing.
std::string report_share(const Value& part, const Value& whole);

}  // namespace profd
