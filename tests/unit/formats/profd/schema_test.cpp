// The schema as others see it: what we write is read by protoc and its C++ classes, what those write is read
// by us.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <unistd.h>

#include "profd/profile.pb.h"
#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/unit/formats/profd/random_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// A loose file as the documentation shows it: main at the root, work and idle below it.
v1::File loose_file() {
  v1::File file;
  file.set_magic("profd profile");
  file.set_version(1);
  v1::Profile& p = *file.add_profiles();
  for (const char* text : {"", "main", "work", "idle", "app.py", "host", "web-1"})
    p.mutable_strings()->add_texts(text);
  for (unsigned name : {1u, 2u, 3u}) {
    p.mutable_functions()->add_name(name);
    p.mutable_functions()->add_file(4);
  }
  for (unsigned function : {2u, 1u, 0u}) {
    p.mutable_frames()->add_function(function);
    p.mutable_frames()->add_line(10 + function);
  }
  v1::Metric& cpu = *p.add_metrics();
  cpu.set_name("cpu");
  cpu.set_unit("ns");
  for (auto [parent, frame] : {std::pair{0u, 2u}, {1u, 0u}, {1u, 1u}, {1u, 0u}}) {
    p.mutable_contexts()->add_parent(parent);
    p.mutable_contexts()->add_frame(frame);
  }
  return file;
}

void add_self(v1::Profile& p, std::vector<std::pair<unsigned, std::int64_t>> rows) {
  v1::Values& values = *p.mutable_self()->add_values();
  for (auto [context, value] : rows) {
    p.mutable_self()->add_context(context);
    values.add_ints(value);
  }
}

std::string failure(const v1::File& file) {
  const auto opened = open_native(file.SerializeAsString());
  return opened ? "opened" : describe(opened.error());
}

std::string shell(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  REQUIRE(::pclose(pipe) == 0);
  return out;
}

}  // namespace

TEST_CASE("protobuf's own classes read every column that profd writes") {
  for (unsigned seed : {1u, 2u, 4u, 8u, 11u, 16u}) {
    INFO("seed " << seed);
    const ProfilePtr profile = random_profile({.seed = seed});
    const ProfileData& d = profile->data();
    v1::File file;
    REQUIRE(file.ParseFromString(write_to_string({profile})));
    REQUIRE(file.magic() == "profd profile");
    REQUIRE(file.version() == 1);
    REQUIRE(file.n_profiles() == 1);
    REQUIRE(file.has_checksum());
    REQUIRE(file.GetReflection()->GetUnknownFields(file).empty());
    const v1::Profile& p = file.profiles(0);
    REQUIRE(p.GetReflection()->GetUnknownFields(p).empty());
    const auto equal = [](const auto& repeated, const auto& column) {
      return std::equal(repeated.begin(), repeated.end(), column.begin(), column.end(), [](auto a, auto b) {
        if constexpr (requires { b.v; })
          return a == b.v;
        else
          return a == b;
      });
    };
    REQUIRE(p.strings().blob() == std::string(d.strings.bytes().begin(), d.strings.bytes().end()));
    REQUIRE(equal(p.strings().offsets(), d.strings.offsets()));
    REQUIRE(equal(p.modules().limit(), d.modules.limit));
    REQUIRE(equal(p.pieces().start(), d.pieces.start));
    REQUIRE(equal(p.frames().piece(), d.frames.piece));
    REQUIRE(p.frames().is_return().size() == d.frames.is_return.size());
    REQUIRE(equal(p.functions().system_name(), d.functions.system_name));
    REQUIRE(equal(p.frames().function(), d.frames.function));
    REQUIRE(equal(p.frames().module(), d.frames.module));
    REQUIRE(equal(p.frames().address(), d.frames.address));
    REQUIRE(p.frames().kind().size() == d.frames.size());
    REQUIRE(equal(p.threads().pid(), d.threads.pid));
    REQUIRE(equal(p.labels().number(), d.labels.number));
    REQUIRE(equal(p.tree().subtree_end(), d.tree.subtree_end));
    REQUIRE(equal(p.self().context(), d.self.contexts));
    REQUIRE(p.metrics_size() == static_cast<int>(d.metrics.size()));
    REQUIRE(p.n_samples() == d.n_samples);
    REQUIRE(p.info().name() == d.info.name);
    REQUIRE((p.info().has_time_ns() ? std::optional(p.info().time_ns()) : std::nullopt) == d.info.time_ns);
    REQUIRE(p.has_samples() == d.samples.has_value());
    if (d.samples) {
      REQUIRE(equal(p.samples().context(), d.samples->context));
      REQUIRE(equal(p.samples().time(), d.samples->time));
    }
    REQUIRE(p.has_stated() == d.stated.has_value());
    if (d.stated) {
      REQUIRE(equal(p.stated().function(), d.stated->functions.frame));
      REQUIRE(equal(p.stated().callee(), d.stated->calls.callee));
      REQUIRE(p.stated().call_known().size() == d.stated->calls.size());
    }
    REQUIRE(p.associations_size() == static_cast<int>(d.associations.size()));
    if (!d.associations.empty()) {
      REQUIRE(equal(p.associations(0).contexts(1).id(), d.associations[0].contexts[1]));
      REQUIRE(equal(p.associations(0).values(1).doubles(),
                    std::get<Column<double>>(d.associations[0].values[1])));
    }
  }
}

TEST_CASE("what protobuf's own classes write from a frozen file is the same profile") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const ProfilePtr profile = random_profile({.seed = seed});
    v1::File file;
    REQUIRE(file.ParseFromString(write_to_string({profile})));
    file.clear_checksum();
    file.clear_checksummed();
    const auto back = open_one(file.SerializeAsString());
    if (!back) FAIL(describe(back.error()));
    REQUIRE(difference(**back, *profile) == "");
  }
}

TEST_CASE("addresses of files from before there were kinds are offsets where a range is known") {
  v1::File file = loose_file();
  v1::Profile& p = *file.mutable_profiles(0);
  add_self(p, {{2, 5}, {3, 1}});
  for (unsigned name : {5u, 6u}) p.mutable_modules()->add_name(name);
  for (std::uint64_t start : {0x1000u, 0u}) p.mutable_modules()->add_start(start);
  for (std::uint64_t limit : {0x2000u, 0u}) p.mutable_modules()->add_limit(limit);
  for (std::uint64_t offset : {0x400u, 0u}) p.mutable_modules()->add_offset(offset);
  for (unsigned module : {0u, 1u, 0u}) p.mutable_frames()->add_module(module);
  for (std::uint64_t address : {0x410u, 0x1010u, 0x420u}) p.mutable_frames()->add_address(address);
  p.mutable_frames()->set_in_modules(true);
  const auto old = open_one(file.SerializeAsString()).value();
  CHECK(old->modules().addresses[0] == AddressKind::file_offset);
  CHECK(old->modules().addresses[1] == AddressKind::unknown);
  CHECK(old->modules().first[0] == 0x400);
  CHECK(old->frames().address[0] == 0x410);
  CHECK(old->frames().is_return.empty());
  // A file that says what they are is taken at its word.
  p.mutable_frames()->set_in_modules(false);
  p.mutable_modules()->set_addresses(std::string("\1\4", 2));
  for (std::uint64_t first : {0x9000u, 0u}) p.mutable_modules()->add_first(first);
  const auto stated = open_one(file.SerializeAsString()).value();
  CHECK(stated->modules().addresses[0] == AddressKind::vaddr);
  CHECK(stated->modules().addresses[1] == AddressKind::loaded);
  CHECK(stated->modules().first[0] == 0x9000);
  CHECK(stated->frames().address[0] == 0x410);
  p.mutable_modules()->set_addresses(std::string("\1\5", 2));
  CHECK_THAT(failure(file), Catch::Contains("modules.addresses"));
  p.mutable_modules()->set_addresses(std::string("\1\4", 2));
  p.mutable_frames()->add_piece(0);
  CHECK_THAT(failure(file), Catch::Contains("frames"));
}

TEST_CASE("protoc decodes a native file with the schema") {
  const std::string folder = std::string(PROFD_SOURCE_DIR) + "/formats/profd";
  const auto path = std::filesystem::temp_directory_path() / ("profd-protoc-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary)
      << write_to_string({random_profile({.seed = 2, .n_frames = 3, .n_samples = 4})});
  const std::string text =
      shell("protoc --proto_path=" + folder + " --decode=profd.v1.File profile.proto < " + path.string());
  std::filesystem::remove(path);
  REQUIRE_THAT(text, Catch::Contains("magic: \"profd profile\""));
  REQUIRE_THAT(text, Catch::Contains("subtree_end: "));
  REQUIRE_THAT(text, Catch::Contains("xxh3: "));
}

TEST_CASE("a loose profile is sorted, merged and summed") {
  v1::File file = loose_file();
  add_self(*file.mutable_profiles(0), {{2, 5}, {4, 7}, {3, -1}, {1, 2}});
  const auto opened = open_one(file.SerializeAsString());
  if (!opened) FAIL(describe(opened.error()));
  const Profile& p = **opened;
  REQUIRE(p.tree().size() == 4);  // contexts 2 and 4 are one: the same frame under main
  REQUIRE(std::get<std::int64_t>(p.total(MetricId{0u})) == 13);
  REQUIRE(p.metrics()[0].unit == "nanoseconds");
  REQUIRE(p.info().format == "profd");
  std::map<std::string, std::int64_t> by_name;
  const auto& values = std::get<Column<std::int64_t>>(p.self().values[0]);
  for (std::size_t row = 0; row < p.self().contexts.size(); ++row) {
    const std::uint32_t frame = p.tree().frame[p.self().contexts[row]];
    by_name[std::string(p.function_name(p.frames().function[frame]))] += values[row];
    REQUIRE(p.strings()[p.frames().file[frame]] == "app.py");  // not stated: the function's
    REQUIRE_FALSE(p.frames().module[frame].valid());
  }
  REQUIRE(by_name == std::map<std::string, std::int64_t>{{"main", 2}, {"work", -1}, {"idle", 12}});
}

TEST_CASE("a loose profile keeps samples with threads, times and labels") {
  v1::File file = loose_file();
  v1::Profile& p = *file.mutable_profiles(0);
  v1::Metric& share = *p.add_metrics();
  share.set_name("share");
  share.set_fractional(true);
  p.mutable_threads()->add_name(1);
  p.mutable_threads()->add_tid(41);
  for (unsigned first : {0u, 0u, 1u}) p.mutable_labels()->add_first(first);
  p.mutable_labels()->add_key(5);
  p.mutable_labels()->add_text(6);
  v1::Samples& s = *p.mutable_samples();
  v1::Values& cpu = *s.add_values();
  v1::Values& shares = *s.add_values();
  const std::int64_t large = (std::int64_t{1} << 60) + 1;  // would be lost in a double
  for (int i = 0; i < 3; ++i) {
    s.add_context(static_cast<unsigned>(i + 2));
    s.add_thread(i == 1 ? kNone : 0);
    s.add_label_set(i == 2 ? 1 : 0);
    s.add_time(100 - i);
    cpu.add_ints(i == 0 ? large : i);
    shares.add_doubles(i / 4.0);
  }
  const auto opened = open_one(file.SerializeAsString());
  if (!opened) FAIL(describe(opened.error()));
  const SampleTable* samples = (*opened)->samples();
  REQUIRE(samples != nullptr);
  REQUIRE(samples->size() == 3);
  REQUIRE(std::vector(samples->time.begin(), samples->time.end()) == std::vector<std::int64_t>{100, 99, 98});
  REQUIRE(samples->thread[1] == kNone);
  REQUIRE((*opened)->threads().tid[samples->thread[0]] == 41);
  REQUIRE(std::get<Column<std::int64_t>>(samples->values[0])[0] == large);
  REQUIRE(std::get<Column<double>>(samples->values[1])[2] == 0.5);
  const auto& labels = (*opened)->labels();
  REQUIRE((*opened)->strings()[labels.text[labels.first[samples->label_set[2]]]] == "web-1");
  REQUIRE((*opened)->n_samples() == 3);
}

TEST_CASE("texts of a loose profile that are not UTF-8 are repaired and counted") {
  v1::File file = loose_file();
  v1::Profile& p = *file.mutable_profiles(0);
  p.mutable_strings()->clear_texts();
  p.mutable_strings()->set_blob("main\xFFworkidle");
  for (std::uint64_t offset : {0, 0, 5, 9, 13, 13, 13, 13}) p.mutable_strings()->add_offsets(offset);
  add_self(p, {{2, 5}});
  const auto opened = open_native(file.SerializeAsString());
  if (!opened) FAIL(describe(opened.error()));
  REQUIRE(opened->report.rows().size() == 1);
  REQUIRE(opened->report.rows()[0].kind == "text-not-utf8");
  REQUIRE(opened->report.rows()[0].count == 1);
}

TEST_CASE("loose profiles that contradict themselves are refused and named") {
  const auto with = [](const std::function<void(v1::Profile&)>& change) {
    v1::File file = loose_file();
    add_self(*file.mutable_profiles(0), {{1, 2}});
    change(*file.mutable_profiles(0));
    return failure(file);
  };
  CHECK(with([](v1::Profile&) {}) == "opened");
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_contexts()->set_parent(2, 3); }),
             Catch::Contains("contexts.parent[2]"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_contexts()->set_frame(0, 9); }),
             Catch::Contains("contexts.frame[0]"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_contexts()->add_frame(0); }),
             Catch::Contains("different length"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_self()->set_context(0, 5); }),
             Catch::Contains("self.context[0]"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_self()->mutable_values(0)->add_ints(1); }),
             Catch::Contains("for 1 rows"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_self()->clear_values(); }),
             Catch::Contains("0 value columns for 1 metrics"));
  CHECK_THAT(with([](v1::Profile& p) { p.clear_metrics(); }),
             Catch::Contains("1 value columns for 0 metrics"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_samples(); }), Catch::Contains("self or samples, not both"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_tree(); }), Catch::Contains("both a tree and contexts"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_strings()->set_texts(0, "x"); }),
             Catch::Contains("text 0 must be empty"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_strings()->set_blob("x"); }),
             Catch::Contains("both texts and offsets"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_frames()->set_kind("\x07\x01\x01"); }),
             Catch::Contains("frames.kind[0]"));
  CHECK_THAT(with([](v1::Profile& p) { p.set_default_metric(1); }), Catch::Contains("default metric"));
  CHECK_THAT(with([](v1::Profile& p) { p.mutable_functions()->mutable_file()->RemoveLast(); }),
             Catch::Contains("functions.file has 2 rows"));
}

TEST_CASE("a profile that is nearly empty opens") {
  v1::File file;
  file.set_magic("profd profile");
  file.set_version(1);
  CHECK_THAT(failure(file), Catch::Contains("no profile"));
  file.add_profiles();
  CHECK_THAT(failure(file), Catch::Contains("no metric"));
  file.mutable_profiles(0)->add_metrics()->set_name("cpu");
  const auto opened = open_one(file.SerializeAsString());
  REQUIRE(opened.has_value());
  REQUIRE((*opened)->tree().size() == 1);
}

TEST_CASE("a column that comes in parts is put together") {
  v1::File file = loose_file();
  add_self(*file.mutable_profiles(0), {{2, 5}, {3, 6}});
  v1::Profile whole = file.profiles(0);
  // Merging serialised messages is concatenation: the self message is cut in two values messages' parts.
  v1::Values first, second;
  first.add_ints(5);
  second.add_ints(6);
  whole.mutable_self()->clear_values();
  std::string bytes = whole.mutable_self()->SerializeAsString();
  const std::string values = first.SerializeAsString() + second.SerializeAsString();
  bytes += std::string("\x1A") + static_cast<char>(values.size()) + values;
  whole.clear_self();
  std::string profile = whole.SerializeAsString();
  profile += std::string("\x6A") + static_cast<char>(bytes.size()) + bytes;
  REQUIRE(profile.size() >= 128);
  file.clear_profiles();
  std::string content = file.SerializeAsString() + "\x3A";
  content += static_cast<char>((profile.size() & 0x7F) | 0x80);
  content += static_cast<char>(profile.size() >> 7);
  content += profile;
  const auto opened = open_one(content);
  if (!opened) FAIL(describe(opened.error()));
  REQUIRE(std::get<std::int64_t>((*opened)->total(MetricId{0u})) == 11);
}
