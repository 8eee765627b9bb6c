// What the daemon holds is counted and bounded: files that are read, views, messages. This program has the
// operator new of server/platform/counted_new.cpp, as profd has.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <zlib.h>

#include "core/support/account.h"
#include "protocol/framing.h"
#include "protocol/message.h"
#include "server/platform/last_words.h"
#include "server/transport/message_bound.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string gzipped(const std::string& text) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() / 100 + 4096, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string repeated(std::string_view text, std::size_t n) {
  std::string out;
  out.reserve(text.size() * n);
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string many_stacks(int n) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += "main;f" + std::to_string(i % 50) + ";g" + std::to_string(i) + ";h " + std::to_string(1 + i % 3) +
            "\n";
  return text;
}

json refused(TestClient& client, const std::string& path) {
  const json answer = client.call("profile/open", {{"uri", "file://" + path}});
  REQUIRE(answer.contains("error"));
  return answer["error"];
}

}  // namespace

TEST_CASE("a message that an account cannot hold ends its parsing, not the process", "[memory]") {
  // Arrays and objects in each other, so that wherever the memory ends, some of each are open and some
  // closed.
  std::string body = R"({"jsonrpc":"2.0","id":1,"method":"x","left":[[1,2],{"a":[3]}],"params":[)";
  for (int i = 0; i < 5000; ++i)
    body += R"({"name":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","in":[[1,2,[3,4]],{"deep":[5]}]},)";
  body += "null]}";
  std::size_t room = 64 << 10;
  std::size_t n_refused = 0;
  for (bool is_parsed = false; !is_parsed; room += 64 << 10) {
    REQUIRE(room < 64 * kMiB);
    const auto pool = std::make_shared<MemoryPool>(room, room);
    Account account(pool, StopSource());
    const Account::Scope scope(&account);
    try {
      auto message = protocol::parse_message(body);
      REQUIRE(message);
      const protocol::Any again(*message->params);  // as much once more
      is_parsed = again.get() == *message->params;
    } catch (const std::bad_alloc&) {
      ++n_refused;
    }
    settle_account();
    CHECK(account.used() == 0);
  }
  CHECK(n_refused > 10);
}

TEST_CASE("what a thread allocates is its account's", "[memory]") {
  const auto pool = std::make_shared<MemoryPool>(256 * kMiB, 256 * kMiB);
  Account account(pool, StopSource());
  const Account::Scope scope(&account);
  {
    std::vector<std::unique_ptr<std::string>> texts;
    for (int i = 0; i < 10'000; ++i) texts.push_back(std::make_unique<std::string>(1000, 'x'));
    CHECK(account.used() > 10'000 * 1000);
    CHECK(account.used() < 10'000 * 1200);
  }
  settle_account();
  CHECK(account.used() == 0);
  CHECK_THROWS_AS(std::string(300 * kMiB, 'x'), std::bad_alloc);
  CHECK(account.over());
}

TEST_CASE("a file that expands beyond the budget is a limit, and the daemon goes on", "[memory]") {
  const TempFolder folder;
  const std::string member = gzipped(repeated("a;b 1\n", kMiB / 2));  // 3 MiB
  const std::string bomb = folder.file("bomb.folded.gz", repeated(member, 64));
  TestDaemon daemon(3, 64 * kMiB);
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  const json error = refused(client, bomb);
  CHECK(error["data"]["reason"] == "limit");
  CHECK_THAT(error["message"].get<std::string>(), Catch::Matchers::Contains("decompression was stopped") &&
                                                      Catch::Matchers::Contains("--memory-budget"));
  CHECK(client.result("profile/list", json::object())["profiles"].size() == 1);
  // Nothing of it is left behind.
  CHECK(holds_soon([&] { return daemon.engine().pool()->used() == 0; }));
  CHECK(client.call("profile/open", {{"uri", "file://" + folder.file("fits.folded.gz", member)}})
            .contains("result"));
}

TEST_CASE("a file whose reading takes more than the budget says how much at least", "[memory]") {
  const TempFolder folder;
  const std::string path = folder.file("many.folded", many_stacks(300'000));
  TestDaemon daemon(3, 32 * kMiB);
  TestClient client(daemon);
  const json error = refused(client, path);
  CHECK(error["data"]["reason"] == "limit");
  const std::string text = error["message"];
  CHECK_THAT(text, Catch::Matchers::Contains("takes at least"));
  CHECK_THAT(text, Catch::Matchers::Contains("budget of 32 MiB"));
  CHECK_THAT(text, Catch::Matchers::Contains("--memory-budget"));
  CHECK(client.call("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}}).contains("result"));
}

TEST_CASE("a client's word opens files, not pipes, sockets, devices or what the kernel makes up",
          "[memory]") {
  const TempFolder folder;
  const std::string pipe = (folder.path / "pipe").string(), socket_path = (folder.path / "socket").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  std::filesystem::create_symlink("/dev/zero", folder.path / "link");
  TestDaemon daemon;
  TestClient client(daemon);
  CHECK_THAT(refused(client, pipe)["message"].get<std::string>(), Catch::Matchers::Contains("is a pipe"));
  CHECK_THAT(refused(client, socket_path)["message"].get<std::string>(),
             Catch::Matchers::Contains("is a socket"));
  CHECK_THAT(refused(client, (folder.path / "link").string())["message"].get<std::string>(),
             Catch::Matchers::Contains("is a device"));
#if defined(__linux__)
  for (const char* path : {"/proc/self/pagemap", "/proc/self/maps", "/proc"})
    CHECK_THAT(refused(client, path)["message"].get<std::string>(),
               Catch::Matchers::Contains("made up by the kernel"));
#endif
}

TEST_CASE("what views say they hold is what they hold", "[memory]") {
  OpenProfile open;
  open.view_id = 1;
  open.profile = profile_from_text("# metrics: cpu/ns\n" + many_stacks(100'000));
  const auto pool = std::make_shared<MemoryPool>(std::uint64_t{4} << 30, std::uint64_t{4} << 30);
  SerialExecutor executor;
  const auto compare = [&](const char* what, const std::function<void(Views&)>& make) {
    INFO(what);
    Account account(pool, StopSource());
    const Account::Scope scope(&account);
    Views views(std::size_t{1} << 30, executor);
    make(views);
    views.measure_again();
    settle_account();
    const auto said = static_cast<double>(views.memory()), held = static_cast<double>(account.used());
    INFO("said " << said << ", held " << held);
    CHECK(said > held * 0.75);
    CHECK(said < held * 1.5 + static_cast<double>(kMiB));
  };
  ViewSpec by_line;
  by_line.granularity = Granularity::line;
  ViewSpec dropped;
  dropped.filters = parse_view_spec("flat | drop function g17")->filters;
  ViewSpec hidden;
  hidden.filters = parse_view_spec("flat | hide function h")->filters;
  compare("selection", [&](Views& views) { REQUIRE(views.selection(open, {}, {})); });
  compare("by line", [&](Views& views) { REQUIRE(views.selection(open, by_line, {})); });
  compare("with rows dropped", [&](Views& views) { REQUIRE(views.selection(open, dropped, {})); });
  compare("with frames hidden", [&](Views& views) { REQUIRE(views.selection(open, hidden, {})); });
  compare("flat", [&](Views& views) { REQUIRE(views.flat(open, {}, {})); });
  compare("neighbours", [&](Views& views) { REQUIRE(views.neighbour_table(open, {}, {})); });
  compare("search", [&](Views& views) { REQUIRE(views.search(open, {}, "g1", {})); });
  compare("line index", [&](Views& views) { REQUIRE(views.line_index(open, {}, {})); });
  compare("bottom-up, unfolded", [&](Views& views) {
    const auto selected = views.selection(open, {}, {});
    REQUIRE(selected);
    REQUIRE(warm_up(**selected, {}));
  });
  compare("numbers of boxes", [&](Views& views) {
    const auto nodes = views.nodes(open, {});
    REQUIRE(nodes);
    NodeTable::Writer writer(**nodes);
    for (Key key = 0; key < 100'000; ++key) writer.node(NodeTable::kNoParent, key);
  });
}

TEST_CASE("views are within the budget with everything else", "[memory]") {
  const TempFolder folder;
  const std::string path = folder.file("many.folded", many_stacks(60'000));
  TestDaemon daemon(3, 64 * kMiB);
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + path}});
  for (int i = 0; i < 40; ++i) {
    const json answer = client.call(
        "view/flameGraph",
        {{"spec", "bottom-up | drop function g" + std::to_string(i)}, {"viewport", {{"width", 1200}}}});
    REQUIRE((answer.contains("result") || answer["error"]["data"]["reason"] == "limit"));
    CHECK(daemon.engine().views().memory() <= 64 * kMiB);
  }
  std::uint64_t sum = 0;
  const json held = client.result("$/memory", json::object());
  for (const json& row : held["rows"])
    if (row["path"] == "profiles" || row["path"] == "views") sum += row["bytes"].get<std::uint64_t>();
  CHECK(sum <= 64 * kMiB);
}

TEST_CASE("of all clients' messages those of the client with most are too much", "[memory]") {
  const auto ledger = std::make_shared<MemoryLedger>();
  const auto bound = std::make_shared<MessageBound>(100, ledger);
  int first = 0, second = 0;
  MessageBound::Share a(bound, Held::answers, [&] { ++first; });
  {
    MessageBound::Share b(bound, Held::incoming, [&] { ++second; });
    a.add(60);
    b.add(30);
    CHECK((first == 0 && second == 0));
    CHECK(ledger->bytes(Held::answers) == 60);
    b.add(20);
    CHECK((first == 1 && second == 0));
    b.add(20);
    CHECK((first == 1 && second == 0));  // it was let go, and has not gone yet
    a.sub(60);
    b.set(99);
    CHECK(second == 0);
    b.set(101);
    CHECK(second == 1);
  }
  // The writer may be done with a message before its sender has counted it.
  MessageBound::Share c(bound, Held::answers, [&] { ++first; });
  c.sub(50);
  c.add(50);
  c.add(10);
  CHECK(first == 1);
  CHECK(ledger->total() == 10);
  c.sub(10);
  CHECK(ledger->total() == 0);
}

TEST_CASE("a message that there is no memory for is skipped, and the next one is read", "[memory]") {
  const auto pool = std::make_shared<MemoryPool>(4 * kMiB, 4 * kMiB);
  const std::string large = protocol::frame(std::string(8 * kMiB, 'x'));
  for (const std::size_t piece : {std::size_t{1} << 16, kMiB}) {
    INFO(piece);
    protocol::FrameReader reader;
    const std::string stream = protocol::frame("before") + large + protocol::frame("after");
    std::vector<std::string> bodies, errors;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      Account account(pool, StopSource());
      const Account::Scope scope(&account);
      reader.feed(std::string_view(stream).substr(at, piece));
      while (auto frame = reader.next()) {
        const Account::Scope nobody(nullptr);
        if (auto* error = std::get_if<protocol::FrameError>(&*frame))
          errors.push_back(error->message);
        else
          bodies.push_back(std::get<std::string>(*frame));
      }
    }
    CHECK(bodies == std::vector<std::string>{"before", "after"});
    REQUIRE(errors.size() == 1);
    CHECK_THAT(errors[0], Catch::Matchers::Contains("no memory for a message of 8388608 bytes"));
  }
}

TEST_CASE("behind a message that is looked at nothing more is read", "[memory]") {
  TestDaemon daemon;
  TestClient client(daemon), watcher(daemon);
  const std::string large = json{{"jsonrpc", "2.0"},
                                 {"id", 77},
                                 {"method", "profile/list"},
                                 {"params", {{"padding", std::vector<std::string>(200'000, "some text")}}}}
                                .dump();
  std::atomic<std::uint64_t> most{0};
  std::atomic<bool> written{false};
  std::thread writer([&] {
    for (int i = 0; i < 8; ++i) client.write_raw(protocol::frame(large));
    written = true;
  });
  while (!written) {
    most = std::max(most.load(), daemon.engine().ledger()->bytes(Held::incoming));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  writer.join();
  CHECK(most > 0);
  CHECK(most < 2 * large.size() + kMiB);
  CHECK(client.wait(77).contains("result"));
}

TEST_CASE("what is put by serves those alone who have last words", "[memory]") {
  CHECK(reserve.take(100) == nullptr);
  const LastWords words;
  CHECK(reserve.take(5000) == nullptr);
  std::set<void*> taken;
  while (void* block = reserve.take(100)) {
    CHECK(reserve.has(block));
    std::memset(block, 1, 100);
    CHECK(taken.insert(block).second);
  }
  CHECK(taken.size() == 128);  // the large ones serve when the small ones are spent
  CHECK(reserve.take(1) == nullptr);
  for (void* block : taken) reserve.give_back(block);
  void* page = reserve.take(4096);
  REQUIRE(page != nullptr);
  std::memset(page, 1, 4096);
  ::operator delete(page);
  CHECK_FALSE(reserve.has(&words));
}
