// Looking up code of this very program, by the process that does it for the daemon: what comes of it, and of
// its faults.
#include "server/engine/symbol_lookup.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/own_image.h"
#include "tests/support/temp_folder.h"

namespace profd {

// Has a name that nobody else has.
__attribute__((noinline)) int code_that_is_looked_up(int n) {
  return n * 3 + 1;
}

namespace {

using test::own_image;
using test::own_path;
using test::OwnImage;

struct Here {
  test::TempFolder folder;
  SymbolPlaces places;
  SymbolCache cache{"", 0};
  OwnImage own = own_image();

  Here() {
    places.system = false;
    places.roots = {std::filesystem::path(own_path()).parent_path().string()};
  }
  [[nodiscard]] LookupMeans means() const {
    return {places, cache, PROFD_SYMBOLIZE, {}, 2, std::chrono::seconds(60)};
  }
  [[nodiscard]] ModuleQuestion question() const {
    const auto vaddr = reinterpret_cast<std::uint64_t>(&code_that_is_looked_up) - own.base;
    return {own_path(), own.build_id, worker::Addresses::vaddr, {vaddr, vaddr + 1}};
  }
  // So many addresses that it takes a while.
  [[nodiscard]] ModuleQuestion long_question() const {
    ModuleQuestion question = this->question();
    const std::uint64_t first = question.addresses.front();
    question.addresses.clear();
    for (std::uint64_t i = 0; i < 3'000'000; ++i) question.addresses.push_back(first + i);
    return question;
  }
};

std::vector<ModuleAnswer> answers_of(const std::vector<ModuleQuestion>& questions, const LookupMeans& means) {
  std::vector<ModuleAnswer> out(questions.size());
  std::vector<int> n_told(questions.size(), 0);
  const auto done =
      look_up_modules(questions, means, StopToken{}, [&](std::size_t question, ModuleAnswer answer) {
        out[question] = std::move(answer);
        ++n_told[question];
      });
  REQUIRE(done);
  CHECK(std::all_of(n_told.begin(), n_told.end(), [](int n) { return n == 1; }));
  return out;
}

std::string name_of(const ModuleAnswer& answer, std::uint32_t asked) {
  for (const worker::Chunk& chunk : answer.chunks)
    for (std::size_t i = 0; i < chunk.asked.size(); ++i)
      if (chunk.asked[i] == asked && chunk.link[i] != 0) {
        const std::uint32_t function = chunk.link_function[chunk.link[i] - 1];
        const std::uint32_t linkage = chunk.function_linkage[function];
        return chunk.texts[linkage != 0 ? linkage - 1 : chunk.function_name[function]];
      }
  return "";
}

// Sends a signal to the first process that works for this one.
void signal_worker(int signal) {
  for (int tries = 0; tries < 5000; ++tries) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream stat(entry.path() / "stat");
      std::string text;
      std::getline(stat, text);
      if (text.find("(profd-symbolize)") == std::string::npos) continue;
      const std::string parent = std::to_string(::getpid());
      if (text.find(") S " + parent + " ") == std::string::npos &&
          text.find(") R " + parent + " ") == std::string::npos)
        continue;
      ::kill(std::stoi(entry.path().filename().string()), signal);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("code of a binary is named by its own file, which is told") {
  const Here here;
  const auto answers = answers_of({here.question()}, here.means());
  CHECK(name_of(answers[0], 0) == "_ZN5profd22code_that_is_looked_upEi");
  CHECK(answers[0].n_known == 2);
  CHECK(answers[0].problem.empty());
  CHECK(answers[0].lines);
  CHECK(answers[0].confined);
  REQUIRE(answers[0].tried.size() >= 1);
  CHECK(answers[0].tried[0].path == own_path());
  CHECK(answers[0].tried[0].why == "used");
}

TEST_CASE("another build is refused, with both ids, and nothing of it is used") {
  const Here here;
  ModuleQuestion other = here.question();
  other.build_id = "0123456789abcdef";
  const auto answers = answers_of({other}, here.means());
  CHECK(answers[0].n_known == 0);
  CHECK(answers[0].chunks.empty());
  REQUIRE(answers[0].tried.size() == 1);
  CHECK(answers[0].tried[0].other_build);
  CHECK(answers[0].tried[0].why == "another build: " + here.own.build_id);
}

TEST_CASE("what is no binary is refused, and the next module has its names") {
  Here here;
  here.places.roots.push_back(here.folder.path.string());
  std::vector<ModuleQuestion> questions;
  for (const std::string& content : {std::string("no ELF file"), std::string(),
                                     std::string("\x7f"
                                                 "ELF\x02\x01\x01 and no more"),
                                     std::string(100'000, '\xff')}) {
    ModuleQuestion bad = here.question();
    bad.name = here.folder.file("bad" + std::to_string(questions.size()), content);
    questions.push_back(bad);
  }
  questions.push_back(here.question());
  const auto answers = answers_of(questions, here.means());
  for (std::size_t i = 0; i + 1 < questions.size(); ++i) {
    CHECK(answers[i].n_known == 0);
    REQUIRE(answers[i].tried.size() == 1);
    CHECK(answers[i].tried[0].why != "used");
  }
  CHECK(answers.back().n_known == 2);
}

TEST_CASE("a process that is killed, crashes or hangs takes its module with it, and no other") {
  const Here here;
  for (const auto& [signal, text] :
       {std::pair(SIGKILL, "profd-symbolize was killed"),
        std::pair(SIGSEGV, "profd-symbolize crashed (SIGSEGV)"),
        std::pair(SIGSTOP, "profd-symbolize said nothing for 1 s and was ended")}) {
    INFO(text);
    LookupMeans means = here.means();
    means.n_processes = 1;
    means.patience = std::chrono::milliseconds(1000);
    std::thread sender([signal = signal] { signal_worker(signal); });
    const auto answers = answers_of({here.long_question(), here.question()}, means);
    sender.join();
    CHECK(answers[0].problem == text);
    CHECK(answers[0].n_known == 0);
    CHECK(answers[1].problem.empty());
    CHECK(answers[1].n_known == 2);
  }
}

TEST_CASE("a process without enough memory says so, and a program that is not there as well") {
  const Here here;
  LookupMeans small = here.means();
  small.limits.memory = 8 << 20;
  CHECK(answers_of({here.long_question()}, small)[0].problem ==
        "profd-symbolize needed more than 8 MiB of memory");
  LookupMeans nowhere = here.means();
  nowhere.program = "/nothing/of/that/name";
  CHECK(answers_of({here.question()}, nowhere)[0].problem ==
        "profd-symbolize cannot be started: /nothing/of/that/name: No such file or directory");
}

TEST_CASE("looking up can be stopped") {
  const Here here;
  StopSource stop;
  stop.request_stop();
  const auto done = look_up_modules(std::vector{here.question()}, here.means(), StopToken(stop),
                                    [](std::size_t, ModuleAnswer) { FAIL("nothing is told"); });
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::cancelled);
}

TEST_CASE("what was looked up once comes from the cache, as long as the files are the same") {
  Here here;
  here.cache = SymbolCache((here.folder.path / "cache/symbols").string(), 1 << 30);
  // A copy, to be touched.
  const std::string copy = (here.folder.path / "copy").string();
  std::filesystem::copy_file(own_path(), copy);
  here.places.roots = {here.folder.path.string()};
  ModuleQuestion question = here.question();
  question.name = copy;
  CHECK(answers_of({question}, here.means())[0].n_known == 2);

  LookupMeans without = here.means();
  without.program = "/nothing/of/that/name";
  const auto kept = answers_of({question}, without);
  CHECK(kept[0].problem.empty());
  CHECK(kept[0].n_known == 2);
  CHECK(name_of(kept[0], 1) == "_ZN5profd22code_that_is_looked_upEi");
  // What is new in it is asked for, and kept with the rest.
  ModuleQuestion more = question;
  more.addresses.push_back(question.addresses.back() + 1);
  CHECK_FALSE(answers_of({more}, without)[0].problem.empty());
  CHECK(answers_of({more}, here.means())[0].n_known == 3);
  CHECK(answers_of({more}, without)[0].n_known == 3);

  SECTION("the file is another") {
    std::filesystem::last_write_time(copy,
                                     std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK_FALSE(answers_of({question}, without)[0].problem.empty());
  }
  SECTION("the entry is damaged") {
    for (const auto& entry : std::filesystem::directory_iterator(here.folder.path / "cache/symbols")) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-5, std::ios::end);
      file.put('\x7f');
    }
    CHECK_FALSE(answers_of({question}, without)[0].problem.empty());
  }
}

TEST_CASE("the cache keeps what was used last, within its bound") {
  const test::TempFolder folder;
  const std::string path = (folder.path / "symbols").string();
  KnownModule known;
  known.used.push_back({own_path(), *stamp_of(own_path())});
  worker::Chunk chunk;
  chunk.texts.assign(300, std::string(100, 'x'));
  known.chunks.push_back({{1, 2}, chunk});
  const SymbolCache cache(path, 100'000);
  for (const char* id : {"aaaa", "bbbb", "cccc", "dddd"}) {
    cache.store(id, worker::Addresses::vaddr, known);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK_FALSE(cache.find("aaaa", worker::Addresses::vaddr));
  CHECK(cache.find("dddd", worker::Addresses::vaddr));
  CHECK_FALSE(cache.find("dddd", worker::Addresses::file_offset));
  CHECK_FALSE(cache.find("../dddd", worker::Addresses::vaddr));
}

}  // namespace profd
