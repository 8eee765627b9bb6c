#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "workers/script.h"
#include "workers/shared_columns.h"

using namespace profd;
using namespace profd::worker;

namespace {

template <class T>
T again(const T& report) {
  auto read = decode_script_report(encode(ScriptReport(report)));
  if (!read) FAIL(read.error().message);
  REQUIRE(std::holds_alternative<T>(*read));
  return std::get<T>(*read);
}

bool is_refused(const ScriptReport& report) {
  return !decode_script_report(encode(report));
}

}  // namespace

TEST_CASE("what a script gives comes as it was sent") {
  ContextEdits edits;
  edits.contexts = {3, 7};
  edits.acts = {ContextAct::merge, ContextAct::keep};
  edits.into = {2, 0};
  edits.name = {0, 1};
  edits.names = {"new"};
  const ContextEdits edited = again(edits);
  CHECK(edited.contexts == edits.contexts);
  CHECK(edited.acts == edits.acts);
  CHECK(edited.into == edits.into);
  CHECK(edited.name == edits.name);
  CHECK(edited.names == edits.names);
  CHECK(again(ScriptMetric{"churn", "bytes", {1, -2.5}}).values == std::vector<double>{1, -2.5});
  ScriptTable table;
  table.title = "T";
  table.columns = {"a", "b"};
  table.units = {"", "ns"};
  table.cells = {{"", 0, false}, {"", 12, true}};
  table.left = 3;
  const ScriptTable shown = again(table);
  CHECK(shown.n_rows() == 1);
  CHECK(shown.units[1] == "ns");
  CHECK(shown.cells[1].number == 12);
  CHECK(shown.left == 3);
  CHECK(again(ScriptNotes{{{"a.c", 3, "here"}}}).notes[0].line == 3);
  const ScriptDone done = again(ScriptDone{"why", 4, "text", 5, 6});
  CHECK(done.error == "why");
  CHECK(done.line == 4);
  CHECK(done.text_left == 5);
  CHECK(done.notes_left == 6);
}

TEST_CASE("what a script answers is checked: columns of other lengths, edits out of order, bounds") {
  ContextEdits edits;
  edits.contexts = {2};
  edits.acts = {ContextAct::drop};
  edits.into = {0};
  edits.name = {0};
  CHECK_FALSE(is_refused(edits));
  ContextEdits wrong = edits;
  wrong.name = {1};
  CHECK(is_refused(wrong));
  wrong = edits;
  wrong.contexts = {0};
  CHECK(is_refused(wrong));
  wrong = edits;
  wrong.acts = {static_cast<ContextAct>(kNContextActs)};
  CHECK(is_refused(wrong));
  wrong = edits;
  wrong.acts = {ContextAct::merge};
  wrong.into = {2};
  CHECK(is_refused(wrong));
  wrong = edits;
  wrong.contexts = {2, 2};
  CHECK(is_refused(wrong));
  CHECK(is_refused(ScriptMetric{"m", "", std::vector<double>(kMetricPiece + 1)}));
  ScriptTable table;
  CHECK(is_refused(table));  // without columns
  table.columns = {"a", "b"};
  table.units = {"", ""};
  table.cells = {{"one", 0, false}};
  CHECK(is_refused(table));  // half a row
  table.cells.assign(2 * (kMaxScriptRows + 1), {"x", 0, false});
  CHECK(is_refused(table));
  CHECK(is_refused(ScriptNotes{{{"a.c", 0, "lines count from 1"}}}));
  CHECK(is_refused(ScriptDone{std::string(kMaxScriptCell + 1, 'x'), 0, "", 0, 0}));
  CHECK(is_refused(ScriptDone{"", 0, std::string(kMaxScriptText + 1, 'x'), 0, 0}));
  CHECK_FALSE(decode_script_report("\x7f"));
}

TEST_CASE("what is shared can be neither changed nor cut") {
  const std::vector<std::uint32_t> values{1, 2, 3};
  const std::vector<double> none;
  SharedColumnsWriter writer;
  writer.add("values", std::span<const std::uint32_t>(values));
  writer.add("none", std::span<const double>(none));
  const auto file = writer.write();
  REQUIRE(file);
  const auto columns = SharedColumns::map(*file);
  REQUIRE(columns);
  const auto read = columns->column<std::uint32_t>("values");
  CHECK(std::vector<std::uint32_t>(read.begin(), read.end()) == values);
  CHECK(columns->column<double>("none").empty());
  CHECK(columns->column<double>("values").empty());  // of another width
#ifdef __linux__
  CHECK(::write(file->get(), "x", 1) < 0);
  CHECK(::ftruncate(file->get(), 0) != 0);
  CHECK(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0) == MAP_FAILED);
#endif
}
