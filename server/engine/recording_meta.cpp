#include "server/engine/recording_meta.h"

#include "formats/support/json_cursor.h"

namespace profd {
namespace {

constexpr std::size_t kMostMetaText = std::size_t{1} << 20;
constexpr std::uint32_t kMetaDepth = 16;

// A value of another kind than is meant is none.
std::string meta_string(JsonCursor& in) {
  if (in.kind() == JsonKind::string) return std::string(in.string());
  in.skip();
  return "";
}

std::optional<std::uint64_t> meta_count(JsonCursor& in) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return std::nullopt;
  }
  const JsonNumber number = in.number();
  if (!number.is_integer || number.integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number.integer);
}

bool meta_flag(JsonCursor& in) {
  if (in.kind() == JsonKind::boolean) return in.boolean();
  in.skip();
  return false;
}

double meta_number(JsonCursor& in) {
  if (in.kind() == JsonKind::number) return in.number().value;
  in.skip();
  return 0;
}

Result<std::vector<std::string>> meta_words(JsonCursor& in) {
  std::vector<std::string> out;
  if (in.kind() != JsonKind::array) return fail(ErrorCode::malformed, "argv of meta.json is no list");
  for (in.begin_array(); in.next_element();) {
    if (in.kind() != JsonKind::string)
      return fail(ErrorCode::malformed, "argv of meta.json is not made of texts");
    out.emplace_back(in.string());
  }
  return out;
}

void read_machine(JsonCursor& in, RecordingMeta& out) {
  if (in.kind() != JsonKind::object) return in.skip();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "system")
      out.system = meta_string(in);
    else if (key == "architecture")
      out.machine = meta_string(in);
    else if (key == "host")
      out.host = meta_string(in);
    else if (key == "processors")
      out.processors = meta_count(in).value_or(0);
    else
      in.skip();
  }
}

// Whether there is such a text.
bool read_text(JsonCursor& in, std::string_view key, RecordingMeta& out) {
  std::string* const text = key == "cwd"           ? &out.cwd
                            : key == "tool"        ? &out.tool
                            : key == "toolVersion" ? &out.tool_version
                            : key == "profile"     ? &out.profile
                            : key == "failure"     ? &out.failure
                            : key == "attached"    ? &out.attached
                            : key == "started"     ? &out.started
                            : key == "commit"      ? &out.commit
                                                   : nullptr;
  if (text == nullptr) return false;
  *text = meta_string(in);
  return true;
}

}  // namespace

Result<RecordingMeta> read_meta(std::string_view text) {
  if (text.size() > kMostMetaText) return fail(ErrorCode::limit, "meta.json is larger than 1 MiB");
  RecordingMeta out;
  JsonCursor in(text, kMetaDepth);
  if (in.kind() != JsonKind::object) return fail(ErrorCode::malformed, "meta.json is no JSON object");
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "argv") {
      PROFD_TRY(out.argv, meta_words(in));
    } else if (key == "exitCode") {
      out.exit_code = static_cast<int>(meta_count(in).value_or(0) & 0xff);
    } else if (key == "durationSeconds") {
      out.duration_s = meta_number(in);
    } else if (key == "dirty") {
      out.dirty = meta_flag(in);
    } else if (key == "interrupted") {
      out.interrupted = meta_flag(in);
    } else if (key == "samples") {
      out.samples = meta_count(in);
    } else if (key == "lost") {
      out.lost = meta_count(in);
    } else if (key == "machine") {
      read_machine(in, out);
    } else if (!read_text(in, key, out)) {
      in.skip();
    }
  }
  PROFD_CHECK(in.finish());
  if (out.argv.empty()) return fail(ErrorCode::malformed, "meta.json has no argv");
  // A file of the folder, and no other.
  if (out.profile.find('/') != out.profile.npos || out.profile == "..") out.profile.clear();
  return out;
}

}  // namespace profd
