#include "server/cli/record_meta.h"

#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include "server/cli/json_writer.h"
#include "server/platform/run.h"

namespace profd {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostMetaText = std::size_t{1} << 20;

std::string meta_string(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::uint64_t> meta_count(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool meta_flag(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

void count_or_null(JsonWriter& json, std::string_view name, const std::optional<std::uint64_t>& count) {
  json.key(name);
  if (count)
    json.value(*count);
  else
    json.null();
}

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
  count_or_null(json, "samples", meta.samples);
  count_or_null(json, "lost", meta.lost);
  json.end_object();
  return out + "\n";
}

Result<RecordingMeta> read_meta(std::string_view text) {
  if (text.size() > kMostMetaText) return fail(ErrorCode::limit, "meta.json is larger than 1 MiB");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::malformed, "meta.json is no JSON object");
  RecordingMeta out;
  const auto argv = json.find("argv");
  if (argv == json.end() || !argv->is_array() || argv->empty())
    return fail(ErrorCode::malformed, "meta.json has no argv");
  for (const Json& word : *argv) {
    if (!word.is_string()) return fail(ErrorCode::malformed, "argv of meta.json is not made of texts");
    out.argv.push_back(word.get<std::string>());
  }
  out.cwd = meta_string(json, "cwd");
  out.tool = meta_string(json, "tool");
  out.tool_version = meta_string(json, "toolVersion");
  out.profile = meta_string(json, "profile");
  // A file of the folder, and no other.
  if (out.profile.find('/') != out.profile.npos || out.profile == "..") out.profile.clear();
  out.started = meta_string(json, "started");
  out.commit = meta_string(json, "commit");
  out.dirty = meta_flag(json, "dirty");
  out.interrupted = meta_flag(json, "interrupted");
  if (const auto code = json.find("exitCode"); code != json.end() && code->is_number_integer())
    out.exit_code = static_cast<int>(code->get<std::int64_t>() & 0xff);
  if (const auto took = json.find("durationSeconds"); took != json.end() && took->is_number())
    out.duration_s = took->get<double>();
  out.samples = meta_count(json, "samples");
  out.lost = meta_count(json, "lost");
  if (const auto machine = json.find("machine"); machine != json.end() && machine->is_object()) {
    out.system = meta_string(*machine, "system");
    out.machine = meta_string(*machine, "architecture");
    out.host = meta_string(*machine, "host");
    out.processors = meta_count(*machine, "processors").value_or(0);
  }
  return out;
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
