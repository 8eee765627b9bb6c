#include "server/cli/record_meta.h"

#include <chrono>
#include <thread>

#include <sys/utsname.h>

#include "server/cli/json_writer.h"
#include "server/platform/run.h"

namespace profd {
namespace {

// Nothing that a repository's configuration could start is run.
std::optional<std::string> git_answer(const std::string& folder, const std::vector<std::string>& words) {
  RunRequest request;
  request.argv = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", folder};
  request.argv.insert(request.argv.end(), words.begin(), words.end());
  request.without_prefix = "GIT_";
  auto answer = run_program(request, StopToken{});
  if (!answer || answer->exit_code != 0) return std::nullopt;
  return std::move(answer->output);
}

}  // namespace

std::string meta_text(const RecordingMeta& meta) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("version", 1);
  json.key("argv");
  json.begin_array();
  for (const std::string& word : meta.argv) json.value(word);
  json.end_array();
  json.field("cwd", meta.cwd);
  json.field("tool", meta.tool);
  json.field("toolVersion", meta.tool_version);
  json.field("profile", meta.profile);
  json.field("failure", meta.failure);
  if (!meta.attached.empty()) json.field("attached", meta.attached);
  json.field("exitCode", meta.exit_code);
  json.field("interrupted", meta.interrupted);
  json.field("started", meta.started);
  json.field("durationSeconds", meta.duration_s);
  json.field("commit", meta.commit);
  json.field("dirty", meta.dirty);
  json.key("machine");
  json.begin_object();
  json.field("system", meta.system);
  json.field("architecture", meta.machine);
  json.field("host", meta.host);
  json.field("processors", meta.processors);
  json.end_object();
  json.field("samples", meta.samples);
  json.field("lost", meta.lost);
  json.end_object();
  return out + "\n";
}

void add_surroundings(RecordingMeta& meta) {
  utsname name{};
  if (::uname(&name) == 0) {
    meta.system = std::string(name.sysname) + " " + name.release;
    meta.machine = name.machine;
    meta.host = name.nodename;
  }
  meta.processors = std::thread::hardware_concurrency();
  if (auto commit = git_answer(meta.cwd, {"rev-parse", "--verify", "HEAD"})) {
    meta.commit = commit->substr(0, commit->find('\n'));
    const auto changed = git_answer(meta.cwd, {"status", "--porcelain", "--untracked-files=no"});
    meta.dirty = changed && !changed->empty();
  }
}

}  // namespace profd
