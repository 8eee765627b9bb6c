// What profd prints for a function can be typed back, in whatever profile and wherever names are taken.
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "core/view/focus.h"
#include "core/view/resolve.h"
#include "formats/open.h"
#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

// Profiles of all formats, as far as they open.
std::vector<ProfilePtr> recorded_profiles() {
  std::vector<ProfilePtr> out;
  SerialExecutor executor;
  const OpenOptions options;
  for (const auto& folder : std::filesystem::directory_iterator(PROFD_SOURCE_DIR "/formats")) {
    if (!std::filesystem::exists(folder.path() / "testdata")) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() / "testdata")) {
      auto input = open_input(file.path().string(), options.limits.input_bytes);
      if (!input) continue;
      auto opened = open_profiles(*input, options, executor, StopToken{});
      if (!opened) continue;
      for (const ProfilePtr& profile : opened->profiles)
        if (!profile->metrics().empty()) out.push_back(profile);
    }
  }
  return out;
}

// Names as compilers, runtimes and people with a grudge make them.
ProfilePtr random_names(Rng& rng) {
  static constexpr std::string_view kPieces[] = {"a",
                                                 "scan",
                                                 "::",
                                                 ".",
                                                 "/",
                                                 "<",
                                                 ">",
                                                 " ",
                                                 "(",
                                                 ")",
                                                 "int",
                                                 "lists::Bag",
                                                 "<int, std::less<int> >",
                                                 "::reduce",
                                                 "operator<",
                                                 "operator()",
                                                 "λ",
                                                 "\"",
                                                 "|",
                                                 " (util_a.py)",
                                                 " #2",
                                                 "net/http",
                                                 ".(*conn).serve",
                                                 "[unknown]",
                                                 "~",
                                                 "by",
                                                 " by ",
                                                 " > ",
                                                 "o.a.s.Executor.run",
                                                 "{{closure}}",
                                                 "h0123456789abcdef",
                                                 "…",
                                                 "=",
                                                 "\\",
                                                 "\t"};
  static constexpr std::string_view kFiles[] = {"", "util_a.py", "lib/util_a.py", "/src/util_b.py", "scan"};
  std::string text;
  ProfileBuilder builder;
  builder.add_metric("value", "count");
  for (std::size_t i = 0; i < 2 + below(rng, 8); ++i) {
    std::string name;
    for (std::size_t n = 1 + below(rng, 4); n > 0; --n) name += kPieces[below(rng, std::size(kPieces))];
    FrameSpec frame;
    frame.function = builder.function(name, kFiles[below(rng, std::size(kFiles))]);
    const std::array<FrameId, 1> stack = {builder.frame(frame)};
    const std::array<std::int64_t, 1> value = {1};
    builder.add_sample(stack, std::span<const std::int64_t>(value));
  }
  auto profile = std::move(builder).finish();
  REQUIRE(profile);
  return *profile;
}

std::string asked_as(const Error& error) {
  return error.message.find(" is the name of ") != std::string::npos ||
                 error.message.find(" is short for ") != std::string::npos ||
                 error.message.find(" is one of ") != std::string::npos
             ? ""
             : error.message;
}

// What is wrong with a name that stands for `key`, as a focus and as a filter; "" nothing.
std::string wrong_with(const Selection& selection, Key key, const std::string& shown) {
  const Profile& profile = *selection.profile;
  const KeyTable& keys = *selection.boxes->keys;
  const auto same_name = [&](Key other) {
    return key_name(profile, keys, other) == key_name(profile, keys, key);
  };
  const auto found = resolve_key(profile, keys, shown);
  if (found ? *found != key && !same_name(*found) : !asked_as(found.error()).empty())
    return fmt::format("`{}` of `{}` means {}", shown, key_name(profile, keys, key),
                       found ? key_name(profile, keys, *found) : found.error().message);
  // As it is pasted into a filter, in the quotes that profd gives it.
  const auto filters = parse_filters("keep function " + name_in_spec(shown));
  if (!filters) return fmt::format("`{}` cannot be read: {}", shown, filters.error().message);
  if (filters->front().pattern != shown)
    return fmt::format("`{}` is read as `{}`", shown, filters->front().pattern);
  ViewSpec spec;
  spec.filters = *filters;
  const auto kept = select(selection.profile, spec, StopToken{});
  if (!kept)
    return asked_as(kept.error()).empty() ? "" : fmt::format("`{}`: {}", shown, kept.error().message);
  if (!(*kept)->warnings().empty()) return fmt::format("`{}`: {}", shown, (*kept)->warnings().front());
  const auto focus = parse_view_spec("callers of " + name_in_spec(shown) + " by function");
  return focus && focus->focus == std::vector<std::string>{shown} ? ""
                                                                  : fmt::format("`{}` as a focus", shown);
}

void check_names(const ProfilePtr& profile, const std::string& what) {
  Viewed viewed(profile);
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.limit = 500;
  const auto answer = table_answer(viewed.views, request, StopToken{});
  REQUIRE(answer);
  const SelectionPtr selection = *viewed.views.selection(*viewed.open, request.spec, StopToken{});
  for (std::size_t i = 0; i < answer->rows.name.size(); ++i) {
    const auto key = static_cast<Key>(answer->rows.key[i]);
    const std::uint32_t name = answer->rows.name[i];
    for (const std::string& shown : {answer->names[name], answer->labels[name]}) {
      const std::string wrong = wrong_with(*selection, key, shown);
      if (!wrong.empty()) FAIL(what << ": " << wrong);
    }
  }
}

}  // namespace

TEST_CASE("every name that is shown of a recorded profile means its function, or an ambiguity that is said") {
  const std::vector<ProfilePtr> profiles = recorded_profiles();
  REQUIRE(profiles.size() > 100);
  for (const ProfilePtr& profile : profiles) check_names(profile, profile->info().format);
}

TEST_CASE("law: every name that is shown of any profile means its function, or an ambiguity that is said") {
  for (std::uint64_t seed = 1; seed <= n_cases() / 2; ++seed) {
    Rng rng(seed);
    check_names(random_names(rng), fmt::format("seed {}", seed));
  }
}

TEST_CASE("what candidates say can be pasted as it stands") {
  Viewed viewed(
      "main;lists::Bag<int, std::less<int> >::reduce(int) 3\n"
      "main;lists::Bag<long, std::less<long> >::reduce(int) 4\n");
  const auto refused = parse_filters("drop function reduce");
  REQUIRE(refused);
  ViewSpec spec;
  spec.filters = *refused;
  const auto selection = viewed.views.selection(*viewed.open, spec, StopToken{});
  REQUIRE(!selection);
  const std::string& message = selection.error().message;
  const std::size_t begin = message.find(": \"") + 2, end = message.find("\", \"") + 1;
  REQUIRE(end > begin);
  const auto pasted = parse_filters("drop function " + message.substr(begin, end - begin));
  REQUIRE(pasted);
  spec.filters = *pasted;
  const auto dropped = viewed.views.selection(*viewed.open, spec, StopToken{});
  REQUIRE(dropped);
  CHECK(whole((*dropped)->sums->total) == 4);
}
