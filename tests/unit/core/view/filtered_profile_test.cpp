#include "core/view/filtered_profile.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr with_race() {
  ProfileBuilder builder;
  add_text(builder, "main;left;lock;write 5\nmain;right;lock;read 7\n");
  const auto at = [&](std::initializer_list<const char*> names) {
    ContextId context = kRootContext;
    for (const char* name : names)
      context = builder.context(context, builder.frame({.function = builder.function(name)}));
    return context.v;
  };
  AssociationTable race;
  race.name = "race";
  race.roles = {"first", "second"};
  race.contexts = {Column<std::uint32_t>(std::vector<std::uint32_t>{at({"main", "left", "lock", "write"})}),
                   Column<std::uint32_t>(std::vector<std::uint32_t>{at({"main", "right", "lock", "read"})})};
  race.metrics = {{"races", "count"}};
  race.values = {Column<std::int64_t>(std::vector<std::int64_t>{3})};
  builder.add_association(std::move(race));
  return std::move(builder).finish().value();
}

ProfilePtr filtered(const ProfilePtr& profile, std::vector<Filter> filters) {
  ViewSpec spec;
  spec.filters = std::move(filters);
  const auto selection = select(profile, spec, {});
  REQUIRE(selection);
  auto out = filtered_profile(**selection, spec, {});
  REQUIRE(out);
  return *out;
}

std::string function_at(const Profile& profile, std::uint32_t context) {
  if (context == kNone) return "-";
  return std::string(profile.function_name(profile.frames().function[profile.tree().frame[context]]));
}

}  // namespace

TEST_CASE("records that tie contexts together stay when frames are hidden, and name what is left") {
  Filter hide;
  hide.op = FilterOp::hide;
  hide.by = FilterBy::function;
  hide.pattern = "read";
  const auto out = filtered(with_race(), {hide});
  REQUIRE(out->associations().size() == 1);
  const AssociationTable& race = out->associations()[0];
  REQUIRE(race.size() == 1);
  CHECK(function_at(*out, race.contexts[0][0]) == "write");
  CHECK(function_at(*out, race.contexts[1][0]) == "lock");
  CHECK(std::get<Column<std::int64_t>>(race.values[0])[0] == 3);
}

TEST_CASE("a record keeps the side of it that the filters leave") {
  Filter keep;
  keep.op = FilterOp::keep;
  keep.by = FilterBy::function;
  keep.pattern = "left";
  const auto out = filtered(with_race(), {keep});
  REQUIRE(out->associations().size() == 1);
  CHECK(function_at(*out, out->associations()[0].contexts[0][0]) == "write");
  CHECK(function_at(*out, out->associations()[0].contexts[1][0]) == "-");
  keep.pattern = "elsewhere";
  CHECK(filtered(with_race(), {keep})->associations().empty());
}

TEST_CASE("filters by thread and time decide on spans, markers and counters, filters by label on none") {
  ProfileBuilder builder;
  add_text(builder, "main;f 5 {thread=a time=10 label:k=v}\nmain;g 7 {thread=b time=50 label:k=w}\n");
  TimelineBuilder& timeline = builder.timeline();
  const auto span = [&](const char* name, std::int64_t begin, std::int64_t end, ThreadId thread) {
    timeline.add_span({.begin = begin, .end = end, .name = builder.string(name), .thread = thread});
  };
  const ThreadId a = builder.thread({.name = "a"}), b = builder.thread({.name = "b"});
  span("a early", 10, 20, a);
  span("a open", 10, kNoTime, a);
  span("b late", 30, 50, b);
  span("nobody", 40, 41, ThreadId{});
  const ProfilePtr profile = std::move(builder).finish().value();
  const auto names = [&](const Filter& filter) {
    const ProfilePtr out = filtered(profile, {filter});
    std::string text;
    for (const StringId name : out->timeline()->spans.name)
      text += (text.empty() ? "" : ", ") + std::string(out->strings()[name]);
    return text;
  };
  Filter filter;
  filter.op = FilterOp::keep;
  filter.by = FilterBy::thread;
  filter.pattern = "a";
  CHECK(names(filter) == "a open, a early");
  filter.op = FilterOp::drop;
  CHECK(names(filter) == "b late, nobody");
  filter = {};
  filter.op = FilterOp::keep;
  filter.by = FilterBy::time;
  filter.from_ns = 20;
  filter.to_ns = 40;
  CHECK(names(filter) == "a open, a early, b late");
  filter.from_ns = 15;
  filter.to_ns = 45;
  filter.op = FilterOp::drop;
  CHECK(names(filter) == "a open, a early, b late");
  filter = {};
  filter.op = FilterOp::keep;
  filter.by = FilterBy::label;
  filter.key = "k";
  filter.pattern = "v";
  CHECK(names(filter) == "");
  filter.op = FilterOp::drop;
  CHECK(names(filter) == "b late, a open, a early, nobody");
}

TEST_CASE("fields of markers are no labels of samples: a filter by one finds nothing") {
  ProfileBuilder builder;
  add_text(builder, "main;f 5 {thread=a time=10 label:k=v}\nmain;g 7 {thread=a time=50 label:k=w}\n");
  const Label field{builder.string("url"), false, builder.string("x")};
  builder.timeline().add_marker({.begin = 1, .end = 1, .fields = builder.label_set({&field, 1})});
  const ProfilePtr profile = std::move(builder).finish().value();
  ViewSpec spec;
  Filter filter;
  filter.op = FilterOp::keep;
  filter.by = FilterBy::label;
  filter.key = "url";
  filter.pattern = "x";
  spec.filters = {filter};
  const auto selection = select(profile, spec, {});
  REQUIRE_FALSE(selection);
  CHECK(selection.error().message.find("no sample of the profile has a label \"url\"") != std::string::npos);
}
