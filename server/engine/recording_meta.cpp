#include "server/engine/recording_meta.h"

#include <nlohmann/json.hpp>

namespace profd {
namespace {

using MetaJson = nlohmann::json;

constexpr std::size_t kMostMetaText = std::size_t{1} << 20;

std::string meta_string(const MetaJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::uint64_t> meta_count(const MetaJson& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool meta_flag(const MetaJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

Result<RecordingMeta> read_meta(std::string_view text) {
  if (text.size() > kMostMetaText) return fail(ErrorCode::limit, "meta.json is larger than 1 MiB");
  const MetaJson json = MetaJson::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::malformed, "meta.json is no JSON object");
  RecordingMeta out;
  const auto argv = json.find("argv");
  if (argv == json.end() || !argv->is_array() || argv->empty())
    return fail(ErrorCode::malformed, "meta.json has no argv");
  for (const MetaJson& word : *argv) {
    if (!word.is_string()) return fail(ErrorCode::malformed, "argv of meta.json is not made of texts");
    out.argv.push_back(word.get<std::string>());
  }
  out.cwd = meta_string(json, "cwd");
  out.tool = meta_string(json, "tool");
  out.tool_version = meta_string(json, "toolVersion");
  out.profile = meta_string(json, "profile");
  out.failure = meta_string(json, "failure");
  out.attached = meta_string(json, "attached");
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

}  // namespace profd
