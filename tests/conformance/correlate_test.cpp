// Records of several contexts, each role a profile: DrCCTProf's reuse triples, hand-made and published.
#include <algorithm>
#include <map>

#include "core/view/record_pairs.h"
#include "core/view/selection.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr role_of(const Profile& profile, std::string_view role) {
  const auto which = find_role(profile.associations().at(0), role);
  REQUIRE(which.has_value());
  const auto made = role_profile(profile, 0, *which, {});
  REQUIRE(made.has_value());
  return *made;
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec) {
  const auto parsed = parse_view_spec(spec);
  REQUIRE(parsed.has_value());
  const auto selection = select(profile, *parsed, {});
  REQUIRE(selection.has_value());
  return *selection;
}

std::int64_t total(const SelectionPtr& selection) {
  return std::get<std::int64_t>(selection->sums->total);
}

struct NamedPair {
  std::string left, right, meet;
  std::int64_t value;
};
std::vector<NamedPair> pairs(const SelectionPtr& selection, std::size_t left, std::size_t right) {
  const auto found = record_pairs(*selection, left, right, {});
  REQUIRE(found.has_value());
  const auto name = [&](const KeyTable& keys, Key key) {
    return key == kNone ? std::string("-") : key_name(*selection->profile, keys, key);
  };
  std::vector<NamedPair> out;
  for (const RecordPair& pair : found->pairs)
    out.push_back({name(*selection->boxes->keys, pair.left), name(*selection->boxes->keys, pair.right),
                   name(*found->function_keys, pair.meet), std::get<std::int64_t>(pair.value)});
  return out;
}

constexpr std::size_t kAllocation = 0, kUse = 1, kReuse = 2;

}  // namespace

TEST_CASE("correlate: each role of the hand-made triples has all of their values, by its own contexts") {
  const auto opened = open_hidden(read_bytes(reader_folder("easyview") / "testdata/reuse.ezview"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  for (const char* role : {"allocation", "use", "reuse"}) {
    const ProfilePtr made = role_of(profile, role);
    CHECK(total_of(*made, "counts") == 8);
    CHECK(total_of(*made, "total distance") == 147);
    CHECK(total_of(*made, "records") == 3);
  }
  const ProfilePtr use = role_of(profile, "use");
  CHECK(total(selected(use, "flat by line | linked allocation function make")) == 6);
  CHECK(total(selected(use, "flat by line | drop linked allocation function make")) == 2);
  const ProfilePtr reuse = role_of(profile, "reuse");
  CHECK(total(selected(reuse, "flat | linked allocation function make | path main")) == 5);
  CHECK(total(selected(reuse, "flat | linked allocation function make | path work")) == 1);
  CHECK(total(selected(reuse, "flat | linked use path main > work")) == 8);
  CHECK(total(selected(reuse, "flat | linked use path work")) == 0);
}

TEST_CASE("correlate: pairs of the hand-made triples, and where both meet") {
  const auto opened = open_hidden(read_bytes(reader_folder("easyview") / "testdata/reuse.ezview"));
  REQUIRE(opened.has_value());
  const ProfilePtr reuse = role_of(*opened->profiles.at(0), "reuse");
  const std::vector<NamedPair> found = pairs(selected(reuse, "flat by line"), kUse, kReuse);
  REQUIRE(found.size() == 1);
  CHECK(found[0].left == "work a.cc:31");
  CHECK(found[0].right == "work a.cc:32");
  CHECK(found[0].value == 8);
  const std::vector<NamedPair> of = pairs(selected(reuse, "flat"), kAllocation, kUse);
  REQUIRE(of.size() == 2);
  CHECK(of[0].left == "make");
  CHECK(of[0].value == 6);
  CHECK(of[0].meet == "main");  // by function: lines 11 and 12 of it are two contexts
  CHECK(of[1].meet == "-");     // a static is allocated by nobody
}

TEST_CASE("correlate: what two threads did meets nowhere, whatever calls both") {
  const auto opened = open_hidden(read_bytes(reader_folder("easyview") / "testdata/reuse.ezview"));
  REQUIRE(opened.has_value());
  const ProfilePtr reuse = role_of(*opened->profiles.at(0), "reuse");
  // `work` calls both in thread 0, and is there in thread 1, too.
  const auto found = record_pairs(*selected(reuse, "flat"), kUse, kReuse, {});
  REQUIRE(found.has_value());
  REQUIRE(found->meets.size() == 2);
  CHECK(key_name(*reuse, *found->function_keys, found->meets[0].function) == "work");
  CHECK(std::get<std::int64_t>(found->meets[0].value) == 7);
  CHECK(found->meets[1].function == kNone);
  CHECK(std::get<std::int64_t>(found->meets[1].value) == 1);
  CHECK(std::get<std::int64_t>(found->across) == 1);
  CHECK(!found->threads_unknown);
  // A static was allocated by no thread.
  const auto of = record_pairs(*selected(reuse, "flat"), kAllocation, kUse, {});
  REQUIRE(of.has_value());
  CHECK(std::get<std::int64_t>(of->across) == 0);
  CHECK(!of->threads_unknown);
}

TEST_CASE("correlate: the sides of a race have their threads, as samples of their role do") {
  const auto opened = open_hidden(read_bytes(reader_folder("easyview") / "testdata/race-threads.drcctprof"));
  REQUIRE(opened.has_value());
  const ProfilePtr second = role_of(*opened->profiles.at(0), "second");
  const auto found = record_pairs(*selected(second, "flat"), 0, 1, {});
  REQUIRE(found.has_value());
  CHECK(std::get<std::int64_t>(found->across) == 5);
  CHECK(!found->threads_unknown);
  CHECK(total(selected(second, "flat | thread /^0$/")) == 2);
  CHECK(total(selected(second, "flat | thread /^1$/")) == 6);
  // A file that tells of no threads says nothing against any of its pairs, and not that they are of one.
  const auto threadless = open_hidden(read_bytes(reader_folder("easyview") / "testdata/race.drcctprof"));
  REQUIRE(threadless.has_value());
  const ProfilePtr own = role_of(*threadless->profiles.at(0), "second");
  const auto pairs_of_it = record_pairs(*selected(own, "flat"), 0, 1, {});
  REQUIRE(pairs_of_it.has_value());
  CHECK(pairs_of_it->threads_unknown);
  CHECK(std::get<std::int64_t>(pairs_of_it->across) == 0);
}

TEST_CASE("correlate: a filter of a role needs a profile of one, and names a role that there is") {
  const auto opened = open_hidden(read_bytes(reader_folder("easyview") / "testdata/reuse.ezview"));
  REQUIRE(opened.has_value());
  const ProfilePtr& profile = opened->profiles.at(0);
  const auto spec = parse_view_spec("flat | linked allocation function make");
  REQUIRE(spec.has_value());
  const auto of_source = select(profile, *spec, {});
  REQUIRE(!of_source.has_value());
  CHECK(of_source.error().message.find("profd correlate") != std::string::npos);
  const auto wrong = parse_view_spec("flat | linked alocation function make");
  const auto of_role = select(role_of(*profile, "use"), *wrong, {});
  REQUIRE(!of_role.has_value());
  CHECK(of_role.error().message.find("allocation, use, reuse") != std::string::npos);
}

TEST_CASE("correlate corpus: EasyView's figure 7, recomputed from its file") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "easyview/fig7_lulesh_reuse_distance.ezview"));
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.at(0);
  const ProfilePtr reuse = role_of(profile, "reuse");
  CHECK(total_of(*reuse, "records") == 3227);
  CHECK(reuse->samples()->size() == 559);
  CHECK(total_of(*reuse, "counts") == 6'007'529);
  CHECK(total_of(*reuse, "total distance") == 4'930'076'905);
  const auto all = record_pairs(*selected(reuse, "flat"), kUse, kReuse, {});
  REQUIRE(all.has_value());
  CHECK(all->contexts == std::vector<std::uint64_t>{41, 374, 371});

  // The largest allocation, with its records and uses.
  const AssociationTable& records = reuse->associations().at(0);
  const auto& counts = std::get<Column<std::int64_t>>(records.values[0]);
  std::map<std::uint32_t, std::int64_t> by_allocation;
  for (std::size_t i = 0; i < records.size(); ++i)
    by_allocation[records.contexts[kAllocation][i]] += counts[i];
  CHECK(std::max_element(by_allocation.begin(), by_allocation.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->second == 583'754);

  const std::vector<NamedPair> found = pairs(selected(reuse, "flat"), kUse, kReuse);
  REQUIRE(!found.empty());
  CHECK(found[0].value == 1'311'870);
  CHECK(found[0].left.find("CalcHourglassControlForElems") != std::string::npos);
  CHECK(found[0].right.find("CalcFBHourglassForceForElems") != std::string::npos);
  REQUIRE(!all->meets.empty());
  CHECK(key_name(*reuse, *all->function_keys, all->meets[0].function).find("MISSING") != std::string::npos);
  CHECK(std::get<std::int64_t>(all->meets[0].value) == 4'106'091);
}
