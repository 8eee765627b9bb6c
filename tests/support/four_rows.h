// A program of two functions and its code, as the process that reads binaries would give it.
#pragma once

#include <string>
#include <utility>

#include "server/engine/joined_symbols.h"
#include "server/feature/disassembly_answer.h"
#include "tests/support/code_profile.h"
#include "tests/support/viewed.h"

namespace profd::test {

// 0x1000 add, 0x1004 call 0x2000, 0x1008 jne 0x1000, 0x100c ret; mix (line 20) is inlined at 0x1004, called
// on line 10.
inline FoundCode four_rows() {
  FoundCode code;
  code.address = {0x1000, 0x1004, 0x1008, 0x100c};
  code.rows.code = std::string(16, 'x');
  code.rows.length = {4, 4, 4, 4};
  code.rows.kind = {InstructionKind::plain, InstructionKind::call, InstructionKind::conditional_jump,
                    InstructionKind::return_};
  code.rows.target = {kNoTarget, 0x2000, 0x1000, kNoTarget};
  code.rows.text = "addcalljneret";
  code.rows.text_size = {3, 4, 3, 3};
  code.rows.places = {0x2000};
  code.text_begin = {0, 3, 7, 10};
  BinarySymbols& symbols = code.symbols = symbols_for(5);
  symbols.texts = {"", "f", "mix", "g", "a.cc"};
  symbols.functions.name = {1, 2, 3};
  symbols.functions.linkage_name = {0, 0, 0};
  symbols.functions.file = {4, 4, 4};
  symbols.functions.first_line = {9, 19, 0};
  symbols.links.parent = {kNone, 0, kNone};
  symbols.links.function = {0, 1, 2};
  symbols.links.file = {4, 4, 4};
  symbols.links.line = {10, 20, 40};
  symbols.links.column = {0, 0, 0};
  symbols.link = {0, 1, 0, 0, 2};
  return code;
}

// What three stacks saw of four_rows(): its loop goes round four times for each time that it ends.
inline BranchSums branches_of_four_rows(ModuleId app) {
  BranchSums sums;
  sums.add_stacks(3);
  sums.add_taken(sums.taken_row({app, 0x1008}, {app, 0x1000}), {80, 80, 4, 80, 240});
  sums.add_taken(sums.taken_row({app, 0x1004}, {app, 0x2000}), {100, 100, 0, 0, 0});
  sums.add_taken(sums.taken_row({app, 0x100c}, {app, 0x2004}), {15});
  sums.add_taken(sums.taken_row({app, 0x100c}, {app, 0x3001}), {5});
  sums.add_run(sums.run_row(app, 0x1000, 0x1004), 100);
  sums.add_run(sums.run_row(app, 0x1008, 0x1008), 80);
  sums.add_run(sums.run_row(app, 0x1008, 0x100c), 20);
  sums.add_run(sums.run_row(app, 0x100c, 0x1020), 7);  // out of it
  sums.add_run(sums.run_row(app, 0x2000, 0x2004), 9);
  return sums;
}

struct Program {
  ProfilePtr profile;
  explicit Program(bool branches = false) {
    CodeProfile code;
    if (branches) code.branches(branches_of_four_rows(code.module()));
    const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x2000, 8);
    const FrameId f_at_call = code.frame("f", {0x1008, f, 10, true});
    const FrameId mix_at_call = code.frame("mix", {0x1008, f, 20, true, true});
    code.stack({code.frame("f", {0x1002, f, 10})}, 2);
    code.stack({f_at_call, mix_at_call, code.frame("g", {0x2000, g, 40})}, 6);
    code.stack({code.frame("f", {0x1010, f, 10})}, 1);  // behind the last instruction
    code.stack({code.frame("other", {0, {}, 1})}, 1);
    profile = code.finish();
  }
};

inline Result<DisassemblyAnswer> answer_of(const ProfilePtr& profile, const CodePlace& place,
                                           CodeQuestion* asked = nullptr, std::string problem = "",
                                           const WorkspaceSnapshot& workspace = {}) {
  Viewed viewed(profile);
  DisassemblyRequest request;
  request.open = viewed.open;
  request.workspace = workspace;
  request.spec = spec_from("flat");
  request.place = place;
  request.metrics = {"cpu"};
  request.source_lines = true;
  return disassembly_answer(viewed.views, request,
                            [&](const CodeQuestion& question) -> Result<std::shared_ptr<const CodeAnswer>> {
                              if (asked != nullptr) *asked = question;
                              auto answer = std::make_shared<CodeAnswer>();
                              answer->problem = problem;
                              if (problem.empty()) answer->code = four_rows();
                              return answer;
                            },
                            {});
}

inline CodePlace function(std::string name) {
  CodePlace place;
  place.function = std::move(name);
  return place;
}

}  // namespace profd::test
