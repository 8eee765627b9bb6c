// Recordings of CPython 3.15 against EXPECTED.tsv and what its own replay makes of them.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

OpenedFile opened_tachyon(const std::string& file) {
  auto read = open_hidden(read_bytes(*corpus_2026() / file));
  if (!read) FAIL(file << ": " << describe(read.error()));
  CHECK(read->decision.certain);
  CHECK_FALSE(read->report.has_losses());
  return std::move(*read);
}

// "work.py:worker:41", "~:<GC>:-1": what EXPECTED.tsv writes.
std::map<std::string, double> samples_by_place(const Profile& profile) {
  std::map<std::string, double> out;
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[self.contexts[row]];
    const FunctionId function = profile.frames().function[frame];
    const std::filesystem::path file(std::string(profile.strings()[profile.functions().file[function.v]]));
    const std::uint32_t line = profile.frames().line[frame];
    out[fmt::format("{}:{}:{}", file.empty() ? "~" : file.filename().string(),
                    profile.function_name(function), line == 0 ? "?" : std::to_string(line))] +=
        std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                   self.values[profile.find_metric("samples").value().v]);
  }
  return out;
}

// "tid:7;work.py:main:53;<GC>": the lines of its own folded stacks.
std::map<std::string, double> samples_by_stack(const Profile& profile) {
  std::map<std::string, double> out;
  const SampleTable& samples = *profile.samples();
  for (std::size_t row = 0; row < samples.size(); ++row) {
    std::string path;
    for (std::uint32_t at = samples.context[row]; at != 0; at = profile.tree().parent[at]) {
      const std::uint32_t frame = profile.tree().frame[at];
      const FunctionId function = profile.frames().function[frame];
      const std::filesystem::path file(std::string(profile.strings()[profile.functions().file[function.v]]));
      std::string name(profile.function_name(function));
      if (!file.empty())
        name = fmt::format("{}:{}:{}", file.filename().string(), name, profile.frames().line[frame]);
      path = ";" + name + path;
    }
    out[fmt::format("tid:{}{}", profile.threads().tid[samples.thread[row]], path)] += 1;
  }
  return out;
}

std::map<std::string, double> folded_lines(const std::string& file) {
  std::map<std::string, double> out;
  std::istringstream in(read_bytes(*corpus_2026() / file));
  for (std::string line; std::getline(in, line);)
    out[line.substr(0, line.rfind(' '))] += std::stod(line.substr(line.rfind(' ') + 1));
  return out;
}

// How many samples have each value of a label.
std::map<std::string, std::uint64_t> samples_by_label(const Profile& profile, std::string_view key) {
  std::map<std::string, std::uint64_t> out;
  const LabelTable& labels = profile.labels();
  for (const std::uint32_t set : profile.samples()->label_set)
    for (std::uint32_t i = labels.first[set]; i < labels.first[set + 1]; ++i)
      if (profile.strings()[labels.key[i]] == key)
        ++out[labels.is_number[i] != 0 ? std::to_string(labels.number[i])
                                       : std::string(profile.strings()[labels.text[i]])];
  return out;
}

}  // namespace

TEST_CASE("recordings of CPython 3.15 have the samples of EXPECTED.tsv by line and by status") {
  if (warn_without_corpus_2026()) return;
  std::set<std::string> files;
  for (const ExpectedRow& row : expected_rows(*corpus_2026(), "tachyon")) {
    if (!row.file.ends_with(".tach") && !row.file.ends_with(".jsonl")) continue;
    INFO(row.file << ", " << row.metric);
    files.insert(row.file);
    const OpenedFile read = opened_tachyon(row.file);
    CHECK(read.decision.format == "tachyon");
    const Profile& profile = *read.profiles.front();
    CHECK(broken_invariant(profile) == "");
    CHECK(profile.n_samples() == std::stoull(row.total));
    CHECK(as_double(profile.total(profile.find_metric("samples").value())) == std::stod(row.total));
    if (row.metric == "samples") {
      const auto places = samples_by_place(profile);
      for (const auto& [name, value] : row.top_entries()) {
        INFO(name);
        // EXPECTED.tsv writes -1 or 0 where the collector has no line.
        const std::size_t colon = name.rfind(':');
        const std::string line = name.substr(colon + 1);
        const auto found = places.find(line == "-1" || line == "0" ? name.substr(0, colon) + ":?" : name);
        REQUIRE(found != places.end());
        CHECK(found->second == std::stod(value));
      }
    } else {
      for (const auto& [name, value] : row.top_entries()) {
        INFO(name);
        const auto labels = samples_by_label(profile, name);
        const auto found = labels.find(name == "gil" ? "held" : "yes");
        CHECK((found == labels.end() ? 0 : found->second) == std::stoull(value));
      }
    }
  }
  CHECK(files.size() == 4);
}

TEST_CASE("a recording of CPython 3.15 has the stacks by thread that its own replay folds") {
  if (warn_without_corpus_2026()) return;
  const OpenedFile read = opened_tachyon("tachyon/threads-zstd.tach");
  const Profile& profile = *read.profiles.front();
  CHECK(profile.threads().size() == 3);
  auto stacks = samples_by_stack(profile);
  for (const auto& [stack, n] : folded_lines("tachyon/threads-zstd.collapsed")) {
    INFO(stack);
    CHECK(stacks[stack] == n);
    stacks.erase(stack);
  }
  for (const auto& [stack, n] : stacks) FAIL_CHECK("folded without " << stack);
  CHECK(as_double(profile.total(profile.find_metric("time").value())) == 4.515e9);
  std::int64_t last = 0;
  for (const std::int64_t time : profile.samples()->time) last = std::max(last, time);
  CHECK(last == 1'506'604'000);
}

TEST_CASE("a recording of CPython 3.15 with opcodes has those of the innermost frames") {
  if (warn_without_corpus_2026()) return;
  const OpenedFile read = opened_tachyon("tachyon/opcodes-native.tach");
  // Its table of frames has 48, three of which only callers were at.
  CHECK(samples_by_label(*read.profiles.front(), "opcode").size() == 45);
}

TEST_CASE("lines of JSON of CPython 3.15 agree by line with the recording they were made of") {
  if (warn_without_corpus_2026()) return;
  const OpenedFile recording = opened_tachyon("tachyon/threads-zstd.tach");
  const OpenedFile lines = opened_tachyon("tachyon/threads-zstd.jsonl");
  const auto seen_on_top = [](const OpenedFile& file) {
    auto places = samples_by_place(*file.profiles.front());
    std::erase_if(places, [](const auto& place) { return place.second == 0; });
    return places;
  };
  CHECK(seen_on_top(recording) == seen_on_top(lines));
  const Profile& profile = *lines.profiles.front();
  REQUIRE(profile.stated());
  CHECK(profile.stated()->functions.size() == 114);
}
