// Ten clients of one project: its folders are read once.
#include "server/engine/engine.h"
#include "server/engine/workspace.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("workspaces of the same roots are walked once and share what is made of them") {
  TempFolder folder;
  folder.file("src/a.cc", "int main() {}\n");
  Engine engine({}, [](UniqueFunction<void()> task) { task(); });
  std::vector<std::unique_ptr<Workspace>> clients;
  int n_told = 0;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<Workspace>(engine));
    clients.back()->set_roots({folder.path.string()}, {}, [&] { ++n_told; });
  }
  CHECK(engine.walks().n_walked() == 1);
  CHECK(n_told == 10);
  for (const auto& client : clients) {
    CHECK(client->snapshot().files == clients.front()->snapshot().files);
    CHECK(client->snapshot().key == clients.front()->snapshot().key);
  }
  // Another root, another walk; a document outside the roots is of its own client.
  TempFolder other;
  Workspace elsewhere(engine);
  elsewhere.set_roots({other.path.string()}, {}, {});
  CHECK(engine.walks().n_walked() == 2);
  REQUIRE(clients[0]->put_document("/somewhere/else.cc", std::make_shared<Document>("text", 1)));
  CHECK(clients[0]->snapshot().key != clients[1]->snapshot().key);
}

TEST_CASE("a project that nobody works on any more is walked again for the next client") {
  TempFolder folder;
  Engine engine({}, [](UniqueFunction<void()> task) { task(); });
  for (int i = 0; i < 2; ++i) Workspace(engine).set_roots({folder.path.string()}, {}, {});
  CHECK(engine.walks().n_walked() == 2);
}
