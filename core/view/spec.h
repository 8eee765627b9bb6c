// ViewSpec: what a person asks to see, as a plain value. One canonical text form serves the protocol, the
// command line and the test names:
//   top-down by function | keep function /^http/ | drop module libc.so.6 | hide file /vendor/ | metric cpu
//   callers of http.(*conn).serve > runtime.mcall by function | thread worker-1 | time 10ms..2s
//
//   spec     shape ["of" name (">" name)*] ["by" granularity] ("|" clause)*
//   shape    top-down  bottom-up  flat  callers  callees
//   clause   [op] ("function" | "module" | "file" | "package" | "thread") pattern
//            [op] "code" module "+0x" address ["..0x" address]: the piece of code that holds it, a range
//            [op] "kind" pattern: frames of a named set    ["keep" | "drop"] "work" name: its own work
//            [op] "label" name "=" pattern
//            [op] "time" [instant] ".." [instant] ["every" instant]: with it the window comes again and again
//            [op] "marker" pattern: while one of that name runs (core/view/marker_times.h)
//            [op] "fragment" name (">" name)*       "collapse" "recursion"          "mine"
//            [op] "path" name (">" name)*: what the stack begins with, from the root on
//            ["keep" | "drop"] "linked" role clause: of records of several contexts, the clause by function,
//            module, file, package, code, fragment or path is of the context that has that role
//            "metric" name                          "paths" ("divided" | "proven")
//   op       keep (when left out)  drop  hide  collapse
//   pattern  name for exactly that, /regex/ (a slash inside is \/) or ~"regex"
//   name     words up to what follows in the grammar, so that a name can be typed as it is shown (a ">"
//            inside of < > is part of it), or "text in quotes" with \" \\ \n \t \r \xHH,
//            which are bytes of UTF-8
//   instant  a number with ns, us, ms, s, m or h: 10ms, 1.5s, within kMaxInstant
// A text has at most 64 KiB.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class Profile;

enum class Shape : std::uint8_t { top_down, bottom_up, flat, callers, callees };
enum class Granularity : std::uint8_t { address, line, function, file, module };

enum class FilterOp : std::uint8_t {
  keep,      // only stacks (or samples) that match
  drop,      // only those that do not
  hide,      // matching frames vanish; their value stays on the caller
  collapse,  // runs of matching frames become one frame
};
enum class FilterBy : std::uint8_t {
  function,
  module,
  file,      // a frame of the stack matches
  package,   // a frame of the stack is of the package (core/view/packages.h)
  code,      // a frame of the stack is in the code that is meant (core/view/code_place.h)
  kind,      // a frame of the stack is of a named set (core/view/frame_sets.h)
  work,      // the stack ends in the own work of a named set
  fragment,  // the stack contains the run of functions `names`
  path,      // the stack begins with the functions `names`, root first
  thread,
  label,
  time,
  marker,     // properties of the sample
  recursion,  // with collapse: direct recursion becomes one frame
  mine,       // with collapse: runs of frames that are not the user's own code become one frame
};

// Which frames are meant, where that is decided by more than names: what is a user's own code, and which sets
// there are, depends on a workspace. Not part of a spec's text.
struct FrameRule {
  std::string id;  // equal ids decide alike
  // By FrameId, 0 or 1; of work a WorkCode.
  std::function<Result<std::vector<std::uint8_t>>(const Profile&, StopToken)> matches;
};

// 104 days: every client can say it as a number, JavaScript's too, so that a view is the same as text and as
// a value.
inline constexpr std::int64_t kMaxInstant = (std::int64_t{1} << 53) - 1;

struct Filter {
  FilterOp op = FilterOp::keep;
  FilterBy by = FilterBy::function;
  std::string pattern;  // name or, when `regex`, an RE2 expression searched for in the name
  bool regex = false;
  std::string key;                 // of a label
  std::vector<std::string> names;  // of a fragment or a path, caller first
  std::string linked;  // a role: not the row's own context is meant, but that of its record (pairs.h)
  std::optional<std::int64_t> from_ns, to_ns;  // of a time window, [from, to), in SampleTable::time
  std::optional<std::int64_t> every_ns;        // the window again this much later, and so on
  // Of mine, kind and work: the frames that are; without it they cannot be applied.
  std::shared_ptr<const FrameRule> rule = nullptr;
};
bool operator==(const Filter& a, const Filter& b);  // rules by their ids

// Whether a filter decides which rows count (keep, drop), not which frames are one box; and then by
// properties of samples, not by frames of their stacks.
inline bool filters_rows(const Filter& filter) {
  return filter.op == FilterOp::keep || filter.op == FilterOp::drop;
}
inline bool filters_samples(const Filter& filter) {
  return !filter.linked.empty() || filter.by == FilterBy::thread || filter.by == FilterBy::label ||
         filter.by == FilterBy::time || filter.by == FilterBy::marker;
}

// What may be said of the context that a record has in another role.
inline bool may_be_linked(FilterBy by) {
  return by <= FilterBy::path;
}

struct ViewSpec {
  Shape shape = Shape::top_down;
  Granularity granularity = Granularity::function;
  std::vector<Filter> filters;  // applied in order
  std::string metric;           // "" is the profile's default
  // Of a source that has calls and no stacks: only the paths that its graph of calls proves. Else a function
  // stands below each of its callers, and what lies deeper is divided as they paid. No other source has a
  // choice.
  bool proven = false;
  std::vector<std::string>
      focus;  // callers / callees: the fragment f1..fk, caller first, names at `granularity`
  bool operator==(const ViewSpec&) const = default;
};

// Canonical: equal specs give equal texts, and parse(to_text(s)) == s for every s that a parser could make,
// which is every s whose filters set no field that their `by` does not use.
std::string to_text(const ViewSpec& spec);
// Fails with `invalid` and the offset of what was not understood, or `limit` above 64 KiB.
Result<ViewSpec> parse_view_spec(std::string_view text);
// Filters alone, `drop module libc.so.6 | collapse recursion`, with expressions that compile.
Result<std::vector<Filter>> parse_filters(std::string_view text);

// As it stands in a spec: "drop function f".
std::string to_text(const Filter& filter);
// All that an answer depends on: the text, and of what it does not say, which code is whose. Equal key texts
// make equal views of one profile.
std::string key_text(const Filter& filter);
std::string key_text(const ViewSpec& spec);
// A name as it stands in a spec: in quotes where it needs them.
std::string name_in_spec(std::string_view name);

std::string_view to_text(Shape shape);
std::string_view to_text(Granularity granularity);
Result<Granularity> parse_granularity(std::string_view text);

}  // namespace profd
