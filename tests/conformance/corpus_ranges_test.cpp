// Parts of functions of recorded profiles: they are all of each function, and what other tools say of a few.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/source/function_ranges.h"
#include "core/support/base_name.h"
#include "core/view/table.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

namespace fs = std::filesystem;

ProfilePtr profile_in(const fs::path& path) {
  auto opened = open_hidden(read_bytes(path));
  return opened && !opened->profiles.empty() ? opened->profiles.front() : nullptr;
}

// What is wrong; "" all is well.
std::string unlike_self(const ProfilePtr& profile, RangeUnit unit) {
  const auto selection = select(profile, {}, {});
  if (!selection) return selection.error().message;
  const auto flat = flat_view(**selection, {});
  if (!flat) return flat.error().message;
  const KeyTable& keys = *(*selection)->boxes->keys;
  const std::size_t metric = (*selection)->metric().v;
  SerialExecutor serial;
  const auto ranges = function_ranges(**selection, keys.of_frame, keys.n_keys(), unit, {}, serial);
  if (!ranges) return ranges.error().message;
  for (Key key = 0; key < keys.n_keys(); ++key) {
    long double sum = 0, size = 0;
    __int128_t exact = 0;
    for (std::uint32_t row = ranges->first[key]; row < ranges->first[key + 1]; ++row) {
      const Value& self = ranges->sums.self[metric][row];
      sum += as_double(self);
      size += std::abs(as_double(self));
      if (const auto* whole = std::get_if<std::int64_t>(&self)) exact += *whole;
    }
    const auto row = flat->row_of(key);
    const Value self = row ? flat->self[*row] : Value(std::int64_t{0});
    const bool same =
        std::holds_alternative<std::int64_t>(self) && size == std::abs(sum)
            ? sum == static_cast<long double>(as_double(self)) || exact == std::get<std::int64_t>(self)
            : std::abs(sum - as_double(self)) <= 1e-9L * size;
    if (!same)
      return fmt::format("{}: {} in parts, {} in all", key_name(*profile, keys, key),
                         static_cast<double>(sum), as_double(self));
  }
  return "";
}

// By "file:line" or address, what a function has of a metric.
std::map<std::string, std::int64_t> parts(const ProfilePtr& profile, std::string_view function,
                                          std::string_view metric, RangeUnit unit) {
  ViewSpec spec;
  spec.metric = metric;
  const auto selection = select(profile, spec, {});
  REQUIRE(selection);
  const auto keys = find_keys(*profile, *(*selection)->boxes->keys, function);
  REQUIRE(keys.size() == 1);
  SerialExecutor serial;
  const auto ranges =
      function_ranges(**selection, frames_of_key(**selection, keys.front()), 1, unit, {}, serial);
  REQUIRE(ranges);
  std::map<std::string, std::int64_t> out;
  for (std::size_t row = 0; row < ranges->rows.size(); ++row) {
    const FunctionRange& range = ranges->rows[row];
    const auto self = std::get<std::int64_t>(ranges->sums.self[(*selection)->metric().v][row]);
    if (self != 0)
      out[fmt::format("{}:{:x}", base_name(profile->strings()[range.file]),
                      unit == RangeUnit::line ? range.line : range.from)] += self;
  }
  return out;
}

}  // namespace

TEST_CASE("parts are all of every function of the corpus, whatever they are") {
  const auto folder = corpus();
  if (!folder) {
    CHECK(warn_without_corpus());
    return;
  }
  // The smallest file of each format that has enough in it.
  std::map<std::string, fs::path> files;
  for (const auto& format : fs::directory_iterator(*folder)) {
    if (!format.is_directory()) continue;
    std::vector<std::pair<std::uintmax_t, fs::path>> found;
    for (const auto& file : fs::directory_iterator(format))
      if (file.is_regular_file() && file.file_size() > 4000 && file.file_size() < 4'000'000)
        found.emplace_back(file.file_size(), file.path());
    std::sort(found.begin(), found.end());
    for (const auto& [size, path] : found) {
      if (profile_in(path) == nullptr) continue;
      files[format.path().filename().string()] = path;
      break;
    }
  }
  std::size_t n = 0;
  for (const auto& [format, path] : files) {
    if (++n > 40) break;
    CAPTURE(path.string());
    const ProfilePtr profile = profile_in(path);
    for (const RangeUnit unit :
         {RangeUnit::line, RangeUnit::address, RangeUnit::bytecode, RangeUnit::automatic})
      CHECK(unlike_self(profile, unit) == "");
  }
  CHECK(n >= 30);
}

TEST_CASE("lines and instructions of a function are those that callgrind says") {
  const auto folder = corpus();
  if (!folder) {
    CHECK(warn_without_corpus());
    return;
  }
  const auto profile = profile_in(*folder / "callgrind" / "callgrind.out.demo-instr");
  REQUIRE(profile);
  std::string smooth;
  for (std::uint32_t f = 0; f < profile->functions().size(); ++f)
    if (profile->function_name(FunctionId{f}).starts_with("smooth"))
      smooth = profile->function_name(FunctionId{f});
  const auto lines = parts(profile, smooth, "Ir", RangeUnit::line);
  CHECK(lines.at("demo.cpp:c") == 2'159'884);
  CHECK(lines.at("stl_vector.h:3dc") == 719'964);
  CHECK(lines.at("stl_vector.h:464") == 719'928);
  CHECK(parts(profile, smooth, "Ir", RangeUnit::address).size() == 33);
  std::int64_t sum = 0;
  for (const auto& [place, value] : lines) sum += value;
  CHECK(sum == 3'599'776);
}

TEST_CASE("lines of a JavaScript function are those that V8 counted") {
  const auto folder = corpus();
  if (!folder) {
    CHECK(warn_without_corpus());
    return;
  }
  const auto profile = profile_in(*folder / "cpuprofile" / "node20-demo.cpuprofile");
  REQUIRE(profile);
  const auto lines = parts(profile, "Hash", "samples", RangeUnit::line);
  std::int64_t sum = 0;
  for (const auto& [place, value] : lines) {
    sum += value;
    if (place.ends_with(":5b")) CHECK(value == 1);
    if (place.ends_with(":65")) CHECK(value == 48);
  }
  CHECK(sum == 49);
}
