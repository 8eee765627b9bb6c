// Which changes of a diff stand out.
#include "core/compare/noise.h"

#include "tests/support/catch.h"
#include "tests/support/composed.h"

using namespace profd;
using namespace profd::test;

namespace {

SelectionPtr selected(const ProfilePtr& diff, std::string_view spec = "flat") {
  return select(diff, parse_view_spec(spec).value(), {}).value();
}
Noise noise_of(std::string_view before, std::string_view after, std::string_view spec = "flat") {
  return judge_noise(*selected(composed(Composed::diff, {before, after}).value(), spec), {}).value();
}

// The names of what stands out, self before total.
std::string out_of(const ProfilePtr& diff, const Noise& noise) {
  const SelectionPtr selection = selected(diff);
  std::string out;
  for (const Key key : noise.key) {
    const std::string name = key_name(*diff, *selection->boxes->keys, key);
    if (noise.self_of(key) == Standing::stands_out) out += name + " self ";
    if (noise.total_of(key) == Standing::stands_out) out += name + " total ";
  }
  return out;
}

}  // namespace

TEST_CASE("a change of many samples stands out, a small one of few does not") {
  const ProfilePtr diff = composed(Composed::diff, {"main;slow 1000\nmain;same 5000\nmain;tiny 10\n",
                                                    "main;slow 1600\nmain;same 5020\nmain;tiny 14\n"})
                              .value();
  const Noise noise = judge_noise(*selected(diff), {}).value();
  CHECK(noise.cannot.empty());
  CHECK(out_of(diff, noise) == "main total slow self slow total ");
  CHECK(noise.dispersion == 2);
  CHECK_FALSE(noise.dispersion_is_known);
}

TEST_CASE("what is certain and small stands nowhere") {
  const Noise noise =
      noise_of("main;big 1000000000\nmain;f 100000\n", "main;big 1001000000\nmain;f 200000\n");
  for (const Standing standing : noise.self) CHECK(standing == Standing::none);
}

TEST_CASE("scaled values are judged by the samples that there are") {
  const ProfilePtr diff =
      composed(Composed::diff, {"main;f 1000\nmain;g 1000\n", "main;f 2000\nmain;g 2000\n"}, {{"samples", 2}})
          .value();
  CHECK(out_of(diff, judge_noise(*selected(diff), {}).value()).empty());
}

TEST_CASE("the samples' own times tell how they vary") {
  std::string steady, bursts;
  for (int i = 0; i < 4000; ++i) {
    steady += "main;f 1 {time=" + std::to_string(i * 10) + "}\n";
    // As many in a tenth of the time.
    bursts +=
        "main;" + std::string(i / 40 % 10 == 0 ? "g" : "f") + " 1 {time=" + std::to_string(i * 10) + "}\n";
  }
  const Noise of_steady = noise_of(steady, steady);
  CHECK(of_steady.dispersion_is_known);
  CHECK(of_steady.dispersion == 1);
}

TEST_CASE("three runs of each side cannot make anything stand out, five can") {
  const auto noise_of_runs = [](int n) {
    Composing composing(Composed::diff);
    for (const bool before : {false, true})
      for (int run = 0; run < n; ++run) {
        const int f = (before ? 10'000 : 20'000) + run * 10;
        const std::string text =
            "main;f " + std::to_string(f) + "\nmain;g " + std::to_string(40'000 + run * 13) + "\n";
        REQUIRE(composing.add(profile_from_text(text), {"run", before, false, {}}, {}));
      }
    SerialExecutor serial;
    const ProfilePtr diff = std::move(composing).finish(serial, {}).value();
    const Noise noise = judge_noise(*selected(diff), {}).value();
    return std::pair(noise.cannot, out_of(diff, noise));
  };
  CHECK(noise_of_runs(2).first.find("not a run or two") != std::string::npos);
  CHECK(noise_of_runs(3).first == "3 and 3 runs are too few: of so many, nothing can stand out");
  CHECK(noise_of_runs(5).second.find("f self f total") != std::string::npos);
}

TEST_CASE("what says nothing of samples, or no longer whose they are, is said to") {
  CHECK(noise_of("# metrics: inuse_space/bytes\nf 1000\n", "# metrics: inuse_space/bytes\nf 5000\n").cannot ==
        "the profiles do not say how many samples their values are made of");
  CHECK(
      noise_of("f 1000 {thread=a}\n", "f 5000 {thread=a}\n", "flat | keep thread a").cannot.find("filter") !=
      std::string::npos);
  CHECK(noise_of("f -1000\n", "f 5000\n").cannot == "some counts of samples are negative");
}
