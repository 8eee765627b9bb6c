// What is written as protocol buffers, read by protobuf's own classes of the schemas in formats/.
#include "formats/containers.h"
#include "formats/support/gzip.h"
#include "formats/writer.h"
#include "otlp/profiles.pb.h"
#include "pprof/profile.pb.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"
#include "tests/unit/formats/writers/written.h"

using namespace profd;
using namespace profd::test;

namespace {

const char* const kDescribed =
    "# metrics: cpu/nanoseconds alloc/bytes\n"
    "main[m.cc:3 start=1];outer[m.cc:9 start=5 module=lib.so address=0x40];inner[h.h:7 inlined "
    "address=0x40] 5 100 {label:env=prod label:size=64}\n"
    "main[m.cc:4 start=1] 1 -20\n";

std::string written_as(std::string_view format) {
  Written out;
  const std::vector<ProfilePtr> profiles{profile_from_text(kDescribed)};
  REQUIRE(find_writer(format)->write(profiles, {}, out.sink(), out.losses).has_value());
  return out.bytes;
}

}  // namespace

TEST_CASE("pprof as protobuf's classes read it") {
  const std::string bytes = written_as("pprof");
  ImportReport report;
  const auto plain =
      gunzip(std::as_bytes(std::span(bytes)), {{1u << 20, "expanded_bytes"}, false, {}}, report);
  REQUIRE(plain.has_value());
  pprof::schema::Profile profile;
  REQUIRE(profile.ParseFromArray(plain->bytes.data(), static_cast<int>(plain->bytes.size())));
  const auto text = [&](std::int64_t index) { return profile.string_table(static_cast<int>(index)); };
  REQUIRE(profile.sample_type_size() == 2);
  CHECK(text(profile.sample_type(1).type()) == "alloc");
  CHECK(text(profile.sample_type(1).unit()) == "bytes");
  REQUIRE(profile.sample_size() == 2);
  const pprof::schema::Sample* sample = nullptr;
  for (const auto& one : profile.sample())
    if (one.value(0) == 5) sample = &one;
  REQUIRE(sample);
  CHECK(sample->value(1) == 100);
  REQUIRE(sample->label_size() == 2);
  CHECK(text(sample->label(0).key()) == "env");
  CHECK(text(sample->label(0).str()) == "prod");
  CHECK(sample->label(1).num() == 64);
  // inner is inlined into outer: one location.
  REQUIRE(sample->location_id_size() == 2);
  for (const auto& location : profile.location()) {
    if (location.id() != sample->location_id(0)) continue;
    CHECK(location.address() == 0x40);  // lib.so has no range
    CHECK(text(profile.mapping(static_cast<int>(location.mapping_id()) - 1).filename()) == "lib.so");
    REQUIRE(location.line_size() == 2);
    CHECK(location.line(0).line() == 7);
    const auto& function = profile.function(static_cast<int>(location.line(0).function_id()) - 1);
    CHECK(text(function.name()) == "inner");
    CHECK(text(function.filename()) == "h.h");
    CHECK(function.system_name() == 0);
  }
}

TEST_CASE("OTLP as protobuf's classes read it") {
  const std::string bytes = written_as("otlp");
  otlp::schema::ProfilesData data;
  REQUIRE(data.ParseFromString(bytes));
  const otlp::schema::ProfilesDictionary& tables = data.dictionary();
  REQUIRE(data.resource_profiles_size() == 1);
  REQUIRE(data.resource_profiles(0).scope_profiles_size() == 1);
  const auto& profiles = data.resource_profiles(0).scope_profiles(0).profiles();
  REQUIRE(profiles.size() == 2);
  const otlp::schema::Profile& cpu = profiles.Get(0);
  CHECK(tables.string_table(cpu.sample_type().type_strindex()) == "cpu");
  CHECK(tables.string_table(cpu.sample_type().unit_strindex()) == "ns");
  REQUIRE(cpu.samples_size() == 2);
  std::int64_t total = 0;
  for (const auto& sample : cpu.samples()) total += sample.values(0);
  CHECK(total == 6);
  bool found = false;
  for (const auto& location : tables.location_table()) {
    if (location.lines_size() != 2) continue;
    found = true;
    CHECK(location.address() == 0x40);
    CHECK(location.lines(1).line() == 9);
    const auto& function = tables.function_table(location.lines(1).function_index());
    CHECK(tables.string_table(function.name_strindex()) == "outer");
    CHECK(function.start_line() == 5);
  }
  CHECK(found);
}
