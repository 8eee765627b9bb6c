// JFR recordings against EXPECTED.tsv: the counts and hottest frames of `jfr`, whole stacks of jfrconv,
// totals and hottest lines of Grafana's parser.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

const Profile* profile_named(const OpenedFile& opened, std::string_view name) {
  for (const ProfilePtr& p : opened.profiles)
    if (p->info().name == name) return p.get();
  return nullptr;
}

double value_of(const Profile& p, MetricId metric, std::size_t row) {
  return std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                    p.samples()->values[metric.v]);
}

std::string label_of(const Profile& p, std::size_t row, std::string_view key) {
  if (p.samples()->label_set.size() == 0) return {};
  const LabelTable& labels = p.labels();
  const std::uint32_t set = p.samples()->label_set[row];
  for (std::uint32_t i = labels.first[set]; i < labels.first[set + 1]; ++i)
    if (p.strings()[labels.key[i]] == key) return std::string(p.strings()[labels.text[i]]);
  return {};
}

// Samples of a profile of some kind ("tlab" inside or outside), or all.
struct Chosen {
  const Profile* profile = nullptr;
  std::string tlab = {};
  bool takes(std::size_t row) const { return tlab.empty() || label_of(*profile, row, "tlab") == tlab; }
};

// The profile that holds the events of a JFR type.
Chosen events_of(const OpenedFile& opened, const std::string& type) {
  const auto any = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const Profile* p = profile_named(opened, name)) return p;
    return static_cast<const Profile*>(nullptr);
  };
  if (type == "jdk.ExecutionSample") return {any({"cpu", "wall"})};
  if (type == "jdk.NativeMethodSample") return {any({"native"})};
  if (type == "jdk.ObjectAllocationInNewTLAB") return {any({"alloc"}), "inside"};
  if (type == "jdk.ObjectAllocationOutsideTLAB") return {any({"alloc"}), "outside"};
  if (type == "jdk.ObjectAllocationSample") return {any({"alloc sample", "alloc"})};
  if (type == "jdk.JavaMonitorEnter") return {any({"lock"})};
  if (type == "jdk.ThreadPark") return {any({"park"})};
  if (type == "profiler.WallClockSample") return {any({"wall"})};
  if (type == "profiler.Malloc") return {any({"malloc"})};
  return {};
}

std::string dotted(std::string text) {
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

enum class Dialect { jfr, async_profiler, grafana };

// A frame as the other tool writes it.
std::string frame_text(const Profile& p, std::uint32_t frame, Dialect dialect) {
  const FrameTable& frames = p.frames();
  std::string name(p.function_name(frames.function[frame]));
  const bool kernel = frames.kind[frame] == FrameKind::kernel;
  const bool native =
      p.strings()[p.functions().system_name[frames.function[frame].v]].find('(') == std::string_view::npos;
  if (native && dialect != Dialect::async_profiler) {
    const ModuleId module = frames.module[frame];
    name = (module.valid() ? std::string(p.strings()[p.modules().name[module.v]]) : "") + "." + name;
  }
  name = dotted(name);
  if (dialect == Dialect::grafana) return name + ":" + std::to_string(frames.line[frame]);
  if (dialect == Dialect::jfr) return name;
  if (kernel) return name + "_[k]";
  // Its converter joins frames that differ in how they were compiled and writes the way of most.
  return name;
}

std::map<std::string, double> stacks(const Profile& p, MetricId metric, bool with_class) {
  std::map<std::string, double> out;
  for (std::size_t row = 0; row < p.samples()->size(); ++row) {
    std::string path;
    for (std::uint32_t c = p.samples()->context[row]; c != 0; c = p.tree().parent[c])
      path = frame_text(p, p.tree().frame[c], Dialect::async_profiler) + (path.empty() ? "" : ";") + path;
    if (with_class) path += ";" + dotted(label_of(p, row, "class"));
    out[path] += value_of(p, metric, row);
  }
  return out;
}

}  // namespace

TEST_CASE("jfr corpus files have the events and hottest frames that the JDK's jfr tells") {
  if (warn_without_corpus()) return;
  int n_counts = 0, n_tops = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "jfr")) {
    if (row.unit != "events") continue;
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Chosen chosen = events_of(*opened, row.metric);
    REQUIRE(chosen.profile);
    std::size_t n = 0;
    for (std::size_t i = 0; i < chosen.profile->samples()->size(); ++i) n += chosen.takes(i);
    CHECK(n == std::stoull(row.count));
    ++n_counts;
    // jfr counts the samples of a batch as one.
    auto ours = std::map<std::string, double>();
    const Profile& p = *chosen.profile;
    for (std::size_t i = 0; i < p.samples()->size(); ++i) {
      const std::uint32_t frame = p.tree().frame[p.samples()->context[i]];
      if (frame != kNone && chosen.takes(i)) ++ours[frame_text(p, frame, Dialect::jfr)];
    }
    for (const auto& [name, value] : row.top_entries()) {
      const std::string plain = dotted(name.substr(0, name.rfind('(')));
      INFO(plain);
      CHECK(ours[plain] == std::stod(value));
      ++n_tops;
    }
  }
  CHECK(n_counts > 40);
  CHECK(n_tops > 50);
}

TEST_CASE("jfr corpus files of async-profiler have the stacks that its converter writes") {
  if (warn_without_corpus()) return;
  struct Case {
    const char *file, *profile, *collapsed;
    bool with_class;
  };
  for (const Case& c : {Case{"ap45-cpu.jfr", "cpu", "ap45-cpu.collapsed", false},
                        Case{"ap45-multi.jfr", "cpu", "ap45-multi.cpu.collapsed", false},
                        Case{"ap45-multi.jfr", "wall", "ap45-multi.wall.collapsed", false},
                        Case{"ap45-multi.jfr", "alloc", "ap45-multi.alloc.collapsed", true},
                        Case{"ap45-multi.jfr", "lock", "ap45-multi.lock.collapsed", true}}) {
    INFO(c.collapsed);
    const auto opened = open_hidden(read_bytes(*corpus() / "jfr" / c.file));
    REQUIRE(opened);
    const Profile* p = profile_named(*opened, c.profile);
    REQUIRE(p);
    std::map<std::string, double> theirs;
    std::ifstream in(*corpus() / "jfr/expected" / c.collapsed);
    for (std::string line; std::getline(in, line);) {
      const std::size_t blank = line.rfind(' ');
      const std::string path =
          std::regex_replace(dotted(line.substr(0, blank)), std::regex("_\\[[01ij]\\]"), "");
      theirs[path] += std::stod(line.substr(blank + 1));
    }
    CHECK(theirs.size() > 0);
    const auto ours = stacks(*p, MetricId{0u}, c.with_class);
    CHECK(ours.size() == theirs.size());
    for (const auto& [path, value] : theirs) {
      INFO(path);
      CHECK(ours.contains(path));
      if (ours.contains(path)) CHECK(ours.at(path) == value);
    }
  }
}

TEST_CASE("jfr corpus files have the totals and hottest lines of Grafana's parser") {
  if (warn_without_corpus()) return;
  int n_totals = 0, n_tops = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "jfr")) {
    if (row.unit != "counts per value column") continue;
    INFO(row.file << ": " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    // Grafana's cpu is runnable samples times 10 ms, whatever the interval was; its delays are ticks.
    Chosen chosen;
    double factor = 1;
    const std::string metric = row.metric.substr(0, row.metric.find(' '));
    if (metric == "process_cpu_cpu" || metric == "wall_wall") {
      chosen = {profile_named(*opened, "cpu") ? profile_named(*opened, "cpu")
                                              : profile_named(*opened, "wall")};
      factor = 1e7;
    } else if (metric == "memory_alloc_in_new_tlab_objects") {
      chosen = events_of(*opened, "jdk.ObjectAllocationInNewTLAB");
    } else if (metric == "memory_alloc_outside_tlab_objects") {
      chosen = events_of(*opened, "jdk.ObjectAllocationOutsideTLAB");
    } else if (metric == "memory_alloc_sample_objects") {
      chosen = events_of(*opened, "jdk.ObjectAllocationSample");
    } else if (metric == "memory_malloc_objects") {
      chosen = events_of(*opened, "profiler.Malloc");
    } else {
      continue;
    }
    REQUIRE(chosen.profile);
    const Profile& p = *chosen.profile;
    const auto samples = MetricId{0u};
    // Events without a stack are no part of theirs; of the rest each has a leaf.
    const bool runnable = metric == "process_cpu_cpu";
    double total = 0, bytes = 0;
    std::map<std::string, double> ours;
    for (std::size_t i = 0; i < p.samples()->size(); ++i) {
      const std::uint32_t frame = p.tree().frame[p.samples()->context[i]];
      if (frame == kNone || !chosen.takes(i)) continue;
      const std::string state = label_of(p, i, "state");
      if (runnable && !state.empty() && state != "STATE_RUNNABLE" && state != "STATE_DEFAULT") continue;
      total += factor * value_of(p, samples, i);
      if (p.metrics().size() > 1) bytes += value_of(p, MetricId{1u}, i);
      ours[frame_text(p, frame, Dialect::grafana)] += factor * value_of(p, samples, i);
    }
    CHECK(total == std::stod(row.total));
    if (const std::size_t slash = row.total.find('/'); slash != std::string::npos)
      CHECK(bytes == std::stod(row.total.substr(slash + 1)));
    ++n_totals;
    for (const auto& [name, value] : row.top_entries()) {
      std::string plain = dotted(name);
      if (plain.ends_with(":4294967295")) plain = plain.substr(0, plain.size() - 10) + "0";
      INFO(plain);
      CHECK(ours[plain] == std::stod(value));
      ++n_tops;
    }
  }
  CHECK(n_totals > 15);
  CHECK(n_tops > 40);
}
