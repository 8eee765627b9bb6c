#include "server/feature/export_answer.h"

#include <fstream>
#include <iterator>
#include <memory>

#include "server/feature/exports.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

OpenProfile opened(std::string_view text) {
  OpenProfile open;
  open.name = "test";
  open.profile = test::profile_from_text(text);
  open.metric = open.profile->default_metric();
  open.loaded = std::make_shared<LoadedProfiles>();
  return open;
}

ExportRequest folded(std::string path = "", bool overwrite = false) {
  ExportRequest request;
  request.writer = find_writer("folded", all_exports());
  request.path = std::move(path);
  request.overwrite = overwrite;
  return request;
}

}  // namespace

TEST_CASE(
    "a profile is exported into the answer, or into a file that is not there unless it may be replaced") {
  const OpenProfile open = opened("main;work 30\nmain 10\n");
  const auto inline_ = export_profile(open, folded(), StopToken());
  REQUIRE(inline_);
  CHECK(inline_->content == "main 10\nmain;work 30\n");
  CHECK(inline_->size == inline_->content.size());
  CHECK(inline_->path.empty());

  const test::TempFolder folder;
  const std::string path = (folder.path / "out.folded").string();
  const auto written = export_profile(open, folded(path), StopToken());
  REQUIRE(written);
  CHECK(written->content.empty());
  CHECK(written->size == inline_->size);
  std::ifstream in(written->path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == inline_->content);
  CHECK_FALSE(export_profile(open, folded(path), StopToken()));
  CHECK(export_profile(open, folded(path, true), StopToken()));
}

TEST_CASE(
    "an export that does not fit an answer is an error that names the way out, and one that is stopped "
    "ends") {
  const std::string name(1u << 20, 'x');
  std::string text;
  for (int i = 0; i < 40; ++i) text += name + std::to_string(i) + " 1\n";
  const OpenProfile open = opened(text);
  const auto too_much = export_profile(open, folded(), StopToken());
  REQUIRE_FALSE(too_much);
  CHECK(too_much.error().code == ErrorCode::limit);
  CHECK(too_much.error().message.find("32.0 MiB that fit an answer; give a uri") != std::string::npos);
  StopSource stop;
  stop.request_stop();
  const auto stopped = export_profile(opened("main 1\n"), folded(), StopToken(stop));
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
}
