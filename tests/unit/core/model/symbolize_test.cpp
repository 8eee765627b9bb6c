#include "core/model/symbolize.h"

#include "core/model/module_address.h"
#include "core/model/profile_builder.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// A stack of frames of one module, root first: an address each, with whether calls return to it.
struct Recorded {
  ProfileBuilder builder;
  ModuleId module;

  explicit Recorded(AddressKind kind = AddressKind::vaddr) {
    builder.add_metric("cpu", "nanoseconds");
    module = builder.module({.name = "/bin/app", .build_id = "ab12", .addresses = kind});
  }
  FrameId frame(std::uint64_t address, bool is_return = false) {
    return builder.frame(
        {.function = builder.function(FunctionSpec{.name = builder.string("[app]"), .unresolved = true}),
         .module = module,
         .address = address,
         .is_return = is_return});
  }
  void add(std::initializer_list<FrameId> frames, std::int64_t value) {
    builder.add_self(builder.context_of(std::span(frames.begin(), frames.size())), MetricId{0u}, value);
  }
  ProfilePtr finish() { return std::move(builder).finish().value(); }
};

// main at 0x10, with inner inlined into middle inlined into main at 0x20.
BinarySymbols symbols(AddressKind kind = AddressKind::vaddr) {
  BinarySymbols s;
  s.name = "/bin/app";
  s.build_id = "ab12";
  s.kind = kind;
  s.texts = {"", "main", "middle", "inner(int)", "_Z5inneri", "main.cc", "inner.h", "main.constprop.0"};
  s.functions = {{1, 2, 3}, {0, 0, 4}, {5, 5, 6}, {1, 10, 3}};
  s.links = {{kNone, kNone, 1, 2}, {0, 0, 1, 2}, {0, 0, 0, 0}, {2, 5, 11, 4}, {0, 0, 3, 0}};
  s.pieces = {{0x10}, {0x20}, {7}, {0}};
  s.addresses = {0x10, 0x20};
  s.link = {0, 3};
  s.piece = {0, 0};
  return s;
}

std::string text(const Profile& p) {
  std::string out;
  for (std::uint32_t c = 1; c < p.tree().size(); ++c) {
    const std::uint32_t f = p.tree().frame[c];
    const FrameTable& frames = p.frames();
    std::string line;
    for (std::uint32_t up = p.tree().parent[c]; up != 0; up = p.tree().parent[up]) line += "  ";
    line += p.function_name(frames.function[f]);
    if (frames.line[f] != 0)
      line += " " + std::string(p.strings()[frames.file[f]]) + ":" + std::to_string(frames.line[f]);
    if (frames.inlined[f] != 0) line += " inlined";
    if (is_return(frames, f)) line += " return";
    out += line + "\n";
  }
  return out;
}

std::string message(const BinarySymbols& s) {
  const auto out = symbolized(*Recorded().finish(), {&s, 1});
  return out ? std::string() : out.error().message;
}

}  // namespace

TEST_CASE("an address becomes its function and what was inlined there") {
  Recorded r;
  r.add({r.frame(0x11, true), r.frame(0x20)}, 5);
  const ProfilePtr before = r.finish();
  const BinarySymbols s = symbols();
  const ProfilePtr after = symbolized(*before, {&s, 1}).value();
  CHECK(text(*after) ==
        "main main.cc:2 return\n"
        "  main main.cc:5\n"
        "    middle main.cc:11 inlined\n"
        "      inner(int) inner.h:4 inlined\n");
  CHECK(after->total(MetricId{0u}) == Value(std::int64_t{5}));
  // The innermost has the value, all have the address and the code it lies in.
  CHECK(after->self().contexts[0] == 4);
  for (std::uint32_t f = 0; f < after->frames().size(); ++f) {
    CHECK(after->frames().address[f] == (is_return(after->frames(), f) ? 0x11 : 0x20));
    REQUIRE(after->frames().piece[f] == PieceId{0u});
  }
  CHECK(after->strings()[after->pieces().name[0]] == "main.constprop.0");
  CHECK(after->function_name(after->pieces().function[0]) == "main");
  const FunctionId inner = after->frames().function[after->tree().frame[4]];
  CHECK(after->strings()[after->functions().system_name[inner.v]] == "_Z5inneri");
  // Nothing is left of what was unresolved.
  for (std::size_t f = 0; f < after->functions().size(); ++f) CHECK(after->functions().unresolved[f] == 0);
}

TEST_CASE("what is met at an address and what returns there are two frames, looked up apart") {
  Recorded r;
  r.add({r.frame(0x21, true)}, 1);
  r.add({r.frame(0x21)}, 2);
  const ProfilePtr before = r.finish();
  REQUIRE(before->tree().size() == 3);
  CHECK(gather_code(*before).value()[0].addresses == std::vector<std::uint64_t>{0x20, 0x21});
  const BinarySymbols s = symbols();
  CHECK(text(*symbolized(*before, {&s, 1}).value()) ==
        "main main.cc:5 return\n"
        "  middle main.cc:11 inlined return\n"
        "    inner(int) inner.h:4 inlined return\n"
        "[app]\n");
}

TEST_CASE("positions in a file become vaddrs by the segments of the binary, with all that is in it") {
  Recorded r(AddressKind::file_offset);
  const PieceId piece = r.builder.piece({.module = r.module, .start = 0x18, .n_bytes = 4});
  r.add({r.builder.frame({.function = r.builder.function("named"),
                          .module = r.module,
                          .line = 3,
                          .address = 0x18,
                          .piece = piece}),
         r.frame(0x20), r.frame(0x9000)},
        1);
  const ProfilePtr before = r.finish();
  BinarySymbols s = symbols(AddressKind::file_offset);
  s.segments = {{0, 0x1000, 0x400000}};
  const ProfilePtr after = symbolized(*before, {&s, 1}).value();
  const FrameTable& frames = after->frames();
  const std::uint32_t named = after->tree().frame[1], open = after->tree().frame[5];
  CHECK(frames.address[named] == 0x400018);
  CHECK(after->pieces().start[frames.piece[named].v] == 0x400018);
  CHECK(address_kind(after->modules(), frames.module[named]) == AddressKind::vaddr);
  // What lies in no segment is no vaddr.
  CHECK(frames.address[open] == 0x9000);
  CHECK(address_kind(after->modules(), frames.module[open]) == AddressKind::file_offset);
}

TEST_CASE("the memory that a vaddr was in is known as well as that of a position in the file") {
  ProfileBuilder b;
  b.add_metric("cpu", "nanoseconds");
  const ModuleId module =
      b.module({.name = "/bin/app", .start = 0x7f000, .limit = 0x80000, .offset = 0x1000});
  const FrameId frame =
      b.frame({.function = b.function(FunctionSpec{.name = b.string("[app]"), .unresolved = true}),
               .module = module,
               .address = 0x1010,
               .is_return = true});
  b.add_self(b.context(kRootContext, frame), MetricId{0u}, std::int64_t{1});
  const ProfilePtr before = std::move(b).finish().value();
  CHECK(loaded_address(before->modules(), before->frames(), 0) == 0x7f00f);
  BinarySymbols s;
  s.name = "/bin/app";
  s.kind = AddressKind::file_offset;
  s.segments = {{0x1000, 0x1000, 0x3000}};
  const ProfilePtr after = symbolized(*before, {&s, 1}).value();
  CHECK(after->frames().address[0] == 0x3010);
  CHECK(loaded_address(after->modules(), after->frames(), 0) == 0x7f00f);
}

TEST_CASE("a name that is there stays, and gets its line, file and inlined calls") {
  Recorded r;
  const FunctionId mine = r.builder.function("my main");
  const FrameId at_inlined = r.builder.frame({.function = mine, .module = r.module, .address = 0x20});
  const FrameId elsewhere = r.builder.frame({.function = mine, .module = r.module, .address = 0x99});
  r.add({at_inlined}, 1);
  r.add({elsewhere}, 2);
  const ProfilePtr before = r.finish();
  const BinarySymbols s = symbols();
  const ProfilePtr after = symbolized(*before, {&s, 1}).value();
  CHECK(text(*after) ==
        "my main main.cc:5\n"
        "  middle main.cc:11 inlined\n"
        "    inner(int) inner.h:4 inlined\n"
        "my main\n");
  // One function still, which knows its file now.
  const FunctionId function = after->frames().function[after->tree().frame[1]];
  CHECK(after->frames().function[after->tree().frame[4]] == function);
  CHECK(after->strings()[after->functions().file[function.v]] == "main.cc");
}

TEST_CASE("frames of a function in two files do not become one of either") {
  Recorded r;
  const FunctionId init = r.builder.function("init");
  for (const std::uint64_t address : {0x10, 0x20})
    r.add({r.builder.frame({.function = init, .module = r.module, .address = address})}, 1);
  const ProfilePtr before = r.finish();
  BinarySymbols s = symbols();
  s.functions.file = {5, 6, 6};
  s.links = {{kNone, kNone}, {0, 1}, {0, 0}, {2, 9}, {0, 0}};
  s.link = {0, 1};
  const ProfilePtr after = symbolized(*before, {&s, 1}).value();
  CHECK(text(*after) == "init main.cc:2\ninit inner.h:9\n");
  const FunctionId function = after->frames().function[after->tree().frame[1]];
  CHECK(after->functions().file[function.v] == StringId{0u});
}

TEST_CASE("what is inlined already is not unfolded again") {
  Recorded r;
  const FunctionId outer = r.builder.function("outer");
  const FrameId host = r.builder.frame({.function = outer, .module = r.module, .address = 0x20});
  const FrameId inlined = r.builder.frame(
      {.function = r.builder.function("deep"), .module = r.module, .address = 0x20, .inlined = true});
  r.add({host, inlined}, 1);
  const ProfilePtr before = r.finish();
  const BinarySymbols s = symbols();
  CHECK(text(*symbolized(*before, {&s, 1}).value()) == "outer main.cc:5\n  deep inlined\n");
}

TEST_CASE("symbols of another build are not used") {
  Recorded r;
  r.add({r.frame(0x10)}, 1);
  const ProfilePtr before = r.finish();
  BinarySymbols s = symbols();
  s.build_id = "ab13";
  CHECK(text(*symbolized(*before, {&s, 1}).value()) == "[app]\n");
}

TEST_CASE("symbols that point nowhere are refused") {
  CHECK(message(symbols()).empty());
  const auto changed = [](auto change) {
    BinarySymbols s = symbols();
    change(s);
    return message(s);
  };
  CHECK(changed([](BinarySymbols& s) { s.link[1] = 4; }).find("not there") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.links.parent[1] = 1; }).find("never ends") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.links.function[0] = 3; }).find("not there") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.functions.name[0] = 8; }).find("not there") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.functions.name[0] = 0; }).find("without a name") !=
        std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.links.line.pop_back(); }).find("lengths") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.addresses[1] = 0x10; }).find("order") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) { s.pieces.function[0] = 3; }).find("not there") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) {
          s.segments = {{0, 16, 0}, {8, 16, 0}};
        }).find("overlap") != std::string::npos);
  CHECK(changed([](BinarySymbols& s) {
          s.segments = {{16, ~std::uint64_t{0}, 0}};
        }).find("overlap") != std::string::npos);
  const auto deep = [](std::uint32_t depth) {
    return [depth](BinarySymbols& s) {
      s.links = {};
      for (std::uint32_t i = 0; i < depth; ++i) {
        s.links.parent.push_back(i == 0 ? kNone : i - 1);
        for (auto* column : {&s.links.function, &s.links.file, &s.links.line, &s.links.column})
          column->push_back(0);
      }
    };
  };
  CHECK(changed(deep(512)).empty());
  CHECK(changed(deep(513)).find("512") != std::string::npos);
}

TEST_CASE("columns that no frame has are not there, and begin with the first that has") {
  Recorded r;
  r.add({r.frame(0x10)}, 1);
  CHECK(r.finish()->frames().is_return.empty());
  Recorded two;
  two.add({two.frame(0x10), two.frame(0x10, true)}, 1);
  const ProfilePtr p = two.finish();
  CHECK(p->frames().is_return.size() == 2);
  CHECK(p->frames().piece.empty());
  CHECK(lookup_address(p->frames(), 1) == 0xf);
}
