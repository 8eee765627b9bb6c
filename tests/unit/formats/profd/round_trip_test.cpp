#include <algorithm>
#include <random>

#include "core/model/profile_builder.h"
#include "core/model/stack_source.h"
#include "formats/profd/schema.h"
#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/unit/formats/profd/random_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// Larger than a piece of the checksum and than a block of validation.
ProfilePtr large_profile() {
  return random_profile({.seed = 3, .n_frames = 3000, .n_samples = 400'000});
}

}  // namespace

TEST_CASE("a profile written natively is read back equal") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    const ProfilePtr profile =
        random_profile({.seed = seed, .n_frames = 1 + seed % 40, .n_samples = seed % 97});
    const std::string file = write_to_string({profile});
    const auto sniffed = open_native(file);
    if (!sniffed) FAIL(describe(sniffed.error()));
    REQUIRE(difference(*sniffed->profiles.at(0), *profile) == "");
    REQUIRE(profd_size(std::vector{profile}, {}) == file.size());
  }
}

TEST_CASE("a native file is recognised with its name hidden") {
  const std::string file = write_to_string({random_profile({})});
  SerialExecutor serial;
  const auto opened = open_profiles(memory_source(file, ""), {}, serial, {});
  REQUIRE(opened.has_value());
  REQUIRE(opened->decision.format == "profd");
  REQUIRE(opened->decision.certain);
  REQUIRE(opened->profiles[0]->info().format == "pprof");
}

TEST_CASE("a profile of many blocks is read back equal") {
  const ProfilePtr profile = large_profile();
  const std::string file = write_to_string({profile});
  REQUIRE(file.size() > 2 * profd_format::kPieceBytes);
  const auto back = open_one(file);
  if (!back) FAIL(describe(back.error()));
  REQUIRE(difference(**back, *profile) == "");
}

TEST_CASE("columns are read where they lie, or copied where they are not aligned") {
  const ProfilePtr profile = random_profile({.seed = 7});
  const std::string file = write_to_string({profile});
  SerialExecutor serial;
  for (std::size_t shift = 0; shift < 8; ++shift) {
    auto block = std::make_shared<std::vector<std::uint64_t>>(file.size() / 8 + 3);
    char* at = reinterpret_cast<char*>(block->data()) + shift;
    std::copy(file.begin(), file.end(), at);
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(at), file.size());
    ByteSource source(bytes, block, "x.profd");
    source.set_private(true);
    const auto opened = open_profiles(source, {}, serial, {});
    REQUIRE(opened.has_value());
    REQUIRE(difference(*opened->profiles[0], *profile) == "");
    const auto* parents = reinterpret_cast<const char*>(opened->profiles[0]->tree().parent.data());
    const bool inside = parents >= at && parents < at + file.size();
    REQUIRE(inside == (shift % 4 == 0));
  }
}

TEST_CASE("a mapped file may be rewritten while its profile is in use") {
  const ProfilePtr profile = random_profile({.seed = 9});
  const std::string file = write_to_string({profile});
  auto block = std::make_shared<std::string>(file);
  const ByteSource source({reinterpret_cast<const std::byte*>(block->data()), block->size()}, block,
                          "x.profd");
  SerialExecutor serial;
  const auto opened = open_profiles(source, {}, serial, {});
  REQUIRE(opened.has_value());
  std::fill(block->begin(), block->end(), '\xFF');
  REQUIRE(difference(*opened->profiles[0], *profile) == "");
}

TEST_CASE("several profiles of a file stay apart and in order") {
  const std::vector<ProfilePtr> profiles{random_profile({.seed = 1}), random_profile({.seed = 2}),
                                         random_profile({.seed = 3})};
  const auto opened = open_native(write_to_string(profiles));
  REQUIRE(opened.has_value());
  REQUIRE(opened->profiles.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(difference(*opened->profiles[i], *profiles[i]) == "");
}

TEST_CASE("self values that are the samples stay shared") {
  ProfileBuilder builder;
  builder.info().format = "test";
  builder.add_metric("cpu", "ns");
  const FrameId frame = builder.frame({.function = builder.function("f")});
  const Label label{builder.string("k"), false, builder.string("v")};
  struct OneStack final : StackSource {
    FrameId frame;
    LabelSetId set;
    std::size_t size() const override { return 2; }
    std::size_t prefix(std::size_t, std::uint32_t* frames, std::size_t max) const override {
      if (max > 0) frames[0] = frame.v;
      return std::min<std::size_t>(max, 1);
    }
    LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override {
      frames.push_back(frame.v);
      if (values) values[0] = static_cast<std::int64_t>(i) + 1;
      return set;
    }
  };
  auto stacks = std::make_unique<OneStack>();
  stacks->frame = frame;
  stacks->set = builder.label_set(std::vector{label});
  builder.set_stacks(std::move(stacks));
  const ProfilePtr profile = std::move(builder).finish().value();
  REQUIRE(profile->samples() != nullptr);
  const auto back = open_one(write_to_string({profile})).value();
  REQUIRE(difference(*back, *profile) == "");
  REQUIRE(back->self().contexts.data() == back->samples()->context.data());
  REQUIRE(back->memory() == profile->memory());
}

TEST_CASE("the import report of the first opening is kept") {
  ImportReport report;
  report.add("malformed-line", Severity::loss, "a line \"x\" was not understood", 77, 3);
  report.add("guessed", Severity::info, "units were guessed");
  const FormatDecision decision{"folded", false, {"perf_script"}, {"gzip"}};
  const auto opened = open_native(
      write_to_string({random_profile({})}, {.decision = &decision, .report = &report, .cache_key = {}}));
  REQUIRE(opened.has_value());
  REQUIRE(opened->report.rows().size() == 2);
  REQUIRE(opened->report.rows()[0].kind == "malformed-line");
  REQUIRE(opened->report.rows()[0].count == 3);
  REQUIRE(opened->report.rows()[0].first_offset == 77);
  REQUIRE(opened->report.has_losses());
}

TEST_CASE("a sink that fails ends the writing") {
  int calls = 0;
  const auto sink = [&](std::span<const std::byte>) -> Result<void> {
    if (++calls == 3) return fail(ErrorCode::io, "no space left on device");
    return {};
  };
  const auto written = write_profd(std::vector{random_profile({})}, {}, sink);
  REQUIRE_FALSE(written.has_value());
  REQUIRE(written.error().message == "no space left on device");
  REQUIRE(calls == 3);
}
