// Code of comparisons and aggregates: that of one of the profiles that they were put together of.
#include "server/feature/input_disassembly.h"

#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/four_rows.h"

using namespace profd;
using namespace profd::test;

namespace {

// The program in another build, without g: f costs 5.
ProfilePtr without_g() {
  CodeProfile code;
  code.stack({code.frame("f", {0x1002, code.piece("f", 0x1000, 16), 10})}, 5);
  return code.finish();
}

struct Compared {
  ProfilePtr before = Program().profile, after = without_g();
  ProfilePtr diff = *composed(Composed::diff, std::vector{before, after});
};

Result<DisassemblyAnswer> answer_of(Viewed& viewed, const char* spec, const CodePlace& place) {
  DisassemblyRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.place = place;
  return disassembly_answer(viewed.views, request,
                            [](const CodeQuestion&) -> Result<std::shared_ptr<const CodeAnswer>> {
                              auto answer = std::make_shared<CodeAnswer>();
                              answer->code = four_rows();
                              return answer;
                            },
                            {});
}

}  // namespace

TEST_CASE("a comparison shows the code of its side after, with the costs of that side") {
  const Compared compared;
  const auto answer = answer_of(compared.diff, function("f"));
  REQUIRE(answer);
  CHECK(answer->problem.empty());
  CHECK(answer->note == "Costs are those of 2 alone, the side after, as they were measured.");
  CHECK(answer->head.profile == "p1");
  CHECK(answer->head.metric == "cpu");
  CHECK(whole(answer->head.total.value) == 5);
  REQUIRE(answer->pieces.size() == 1);
  CHECK(whole(answer->pieces[0].self.value) == 5);
  CHECK(answer->rows.self[0] == Value(5L));
}

TEST_CASE("what one side alone has, or a metric of the side before asks for, is shown of that side") {
  const Compared compared;
  Viewed viewed(compared.diff);
  const auto gone = answer_of(viewed, "flat", function("g"));
  REQUIRE(gone);
  CHECK(gone->note == "Costs are those of 1 alone, the side before, as they were measured.");
  CHECK(whole(gone->pieces[0].self.value) == 6);
  const auto before = answer_of(viewed, "flat | metric \"cpu before\"", function("f"));
  REQUIRE(before);
  CHECK(before->note.find("the side before") != std::string::npos);
  CHECK(whole(before->pieces[0].self.value) == 3);
  const auto change = answer_of(viewed, "flat | metric \"cpu change\"", function("f"));
  REQUIRE(change);
  CHECK(whole(change->pieces[0].self.value) == 5);
  CHECK(answer_of(viewed, "flat", function("nowhere")).error().code == ErrorCode::not_found);
}

TEST_CASE("a source line of a comparison opens the code of the side that has it") {
  const Compared compared;
  CodePlace line;
  line.line = 40;
  for (std::uint32_t id = 0; id < compared.diff->strings().size(); ++id) {
    if (compared.diff->strings()[StringId{id}] == "a.cc") line.files.emplace_back(id);
  }
  REQUIRE(line.files.size() == 1);
  const auto answer = answer_of(compared.diff, line);
  REQUIRE(answer);
  CHECK(answer->pieces[0].name == "g");
}

TEST_CASE("an aggregate shows the code of a profile of it; where none is kept it says what to do") {
  const Compared compared;
  const std::vector<ProfilePtr> inputs{compared.before, compared.after};
  const auto answer = answer_of(*composed(Composed::aggregate, inputs), function("f"));
  REQUIRE(answer);
  CHECK(answer->note == "Costs are those of 1 alone, one of 2 profiles that are added up.");
  CHECK(whole(answer->pieces[0].self.value) == 3);

  Composing composing(Composed::aggregate);
  for (const char* name : {"monday", "tuesday"})
    REQUIRE(composing.add(compared.after, {name, false, false, {}}, {}));
  SerialExecutor serial;
  const auto without = answer_of(*std::move(composing).finish(serial, {}), function("f"));
  REQUIRE(without);
  CHECK(without->pieces.empty());
  CHECK(
      without->problem ==
      "this is put together of 2 profiles, and instructions are shown of one: open it by itself, monday for "
      "example");
}

TEST_CASE("why the code of a profile that was compared cannot be shown is said with its name") {
  const auto text = "# metrics: cpu/count\nf 3";
  const auto diff = *composed(Composed::diff, {text, text});
  const auto answer = answer_of(diff, function("f"));
  REQUIRE(answer);
  CHECK(answer->problem == "2: the profile has no addresses of it, so its instructions are not known");
}

TEST_CASE("what is kept of the inputs goes with the profile that they are inputs of") {
  const Compared compared;
  Viewed viewed(compared.diff);
  REQUIRE(answer_of(viewed, "flat", function("f")));
  CHECK(viewed.views.memory() > 0);
  viewed.views.drop(viewed.open->view_id);
  CHECK(viewed.views.memory() == 0);
}

TEST_CASE("the binary of an input is looked for beside its file") {
  const Compared compared;
  Viewed viewed(compared.diff);
  const auto open = std::make_shared<OpenProfile>(*viewed.open);
  open->uri = "diff://?after=file%3A%2F%2F%2Fnew%2Fcpu.pprof%232&before=%2Fold%2Fcpu.pprof&scale=raw";
  for (const auto& [function, file] : {std::pair("f", "/new/cpu.pprof"), std::pair("g", "/old/cpu.pprof")}) {
    DisassemblyRequest request;
    request.open = open;
    request.spec = spec_from("flat");
    request.place.function = function;
    std::string recording;
    REQUIRE(
        disassembly_answer(viewed.views, request,
                           [&](const CodeQuestion& question) -> Result<std::shared_ptr<const CodeAnswer>> {
                             recording = question.recording;
                             return std::make_shared<const CodeAnswer>();
                           },
                           {}));
    CHECK(recording == file);
  }
}
