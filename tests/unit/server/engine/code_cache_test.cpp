#include "server/engine/code_cache.h"

#include <string>
#include <vector>

#include "server/engine/code_lookup.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

// Instructions of one byte, the first of them on a line; 0: on none.
CodeAnswer answer_of(std::size_t n_rows, std::uint32_t line) {
  CodeAnswer answer;
  answer.code.address.resize(n_rows);
  answer.code.rows.length.assign(n_rows, 1);
  answer.code.rows.kind.resize(n_rows);
  answer.code.rows.target.resize(n_rows);
  answer.code.rows.text_size.resize(n_rows);
  answer.code.symbols.links.line.push_back(line);
  return answer;
}

struct Binary {
  test::TempFolder folder;
  std::string path = folder.file("app", "as it was built first");

  std::vector<SymbolSearch::Used> used() const {
    const auto stamp = stamp_of(path);
    REQUIRE(stamp);
    return {{path, *stamp}};
  }
};

bool has(CodeCache& cache, const std::string& key) {
  return cache.find(key) != nullptr;
}

}  // namespace

TEST_CASE("code is kept as long as the files that it was made of are the same") {
  Binary binary;
  CodeCache cache;
  cache.keep("fill", std::make_shared<CodeAnswer>(answer_of(3, 17)), binary.used());
  const auto found = cache.find("fill");
  REQUIRE(found);
  CHECK(found->code.rows.size() == 3);
  CHECK_FALSE(has(cache, "mix"));
  binary.folder.file("app", "as it was built again");
  CHECK_FALSE(has(cache, "fill"));
  cache.keep("fill", std::make_shared<CodeAnswer>(answer_of(4, 17)), binary.used());
  REQUIRE(has(cache, "fill"));
  CHECK(cache.find("fill")->code.rows.size() == 4);
}

TEST_CASE("code without lines is not kept, as debug files may come") {
  Binary binary;
  CodeCache cache;
  cache.keep("fill", std::make_shared<CodeAnswer>(answer_of(3, 0)), binary.used());
  CHECK_FALSE(has(cache, "fill"));
}

TEST_CASE("code that was asked for longest ago makes room for other code") {
  constexpr std::size_t kHalf = CodeCache::kMostInstructions / 2;
  Binary binary;
  CodeCache cache;
  const auto half = std::make_shared<CodeAnswer>(answer_of(kHalf, 17));
  cache.keep("first", half, binary.used());
  cache.keep("second", half, binary.used());
  CHECK(has(cache, "first"));
  cache.keep("third", half, binary.used());
  CHECK(has(cache, "first"));
  CHECK_FALSE(has(cache, "second"));
  CHECK(has(cache, "third"));
  cache.keep("too much", std::make_shared<CodeAnswer>(answer_of(CodeCache::kMostInstructions + 1, 17)),
             binary.used());
  CHECK_FALSE(has(cache, "too much"));
  CHECK(has(cache, "third"));
}

TEST_CASE("the key of code has all that an answer depends on but the files' content") {
  CodeQuestion question;
  question.name = "app";
  question.build_id = "ab12";
  question.start = 0x1000;
  question.size = 64;
  const SymbolPlaces places;
  const std::string key = CodeCache::key_of(question, places);
  CHECK(key == CodeCache::key_of(question, places));
  std::vector<CodeQuestion> others(5, question);
  others[0].name = "libapp.so";
  others[1].build_id = "ab13";
  others[2].start = 0x1001;
  others[3].size = 65;
  others[4].att = true;
  for (const CodeQuestion& other : others) CHECK(CodeCache::key_of(other, places) != key);
  std::vector<SymbolPlaces> elsewhere(5);
  elsewhere[0].files = {{"app", "/b/app"}};
  elsewhere[1].directories = {"/debug"};
  elsewhere[2].roots = {"/src"};
  elsewhere[3].mappings = {{"/build", "/src"}};
  elsewhere[4].recording = "/recordings";
  for (const SymbolPlaces& other : elsewhere) CHECK(CodeCache::key_of(question, other) != key);
}

}  // namespace profd
