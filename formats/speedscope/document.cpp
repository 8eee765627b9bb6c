#include "formats/speedscope/document.h"

#include <fmt/format.h>

namespace profd::speedscope {
namespace {

void read_text(JsonCursor& in, std::string& out) {
  if (in.kind() == JsonKind::string)
    out = in.string();
  else
    in.skip();
}

std::optional<std::uint64_t> place_of(JsonCursor& in, JsonKind kind) {
  const std::optional<std::uint64_t> at = in.kind() == kind ? std::optional(in.offset()) : std::nullopt;
  in.skip();
  return at;
}

ProfilePlace read_profile(JsonCursor& in) {
  ProfilePlace out;
  out.begin = in.offset();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "type")
      read_text(in, out.type);
    else if (key == "name")
      read_text(in, out.name);
    else if (key == "unit")
      read_text(in, out.unit);
    else if (key == "startValue")
      out.start = place_of(in, JsonKind::number);
    else if (key == "endValue")
      out.end = place_of(in, JsonKind::number);
    else if (key == "events")
      out.events = place_of(in, JsonKind::array);
    else if (key == "samples")
      out.samples = place_of(in, JsonKind::array);
    else if (key == "weights")
      out.weights = place_of(in, JsonKind::array);
    else
      in.skip();
  }
  return out;
}

}  // namespace

Result<Document> read_document(JsonCursor& in) {
  Document out;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "name") {
      read_text(in, out.name);
    } else if (key == "exporter") {
      read_text(in, out.exporter);
    } else if (key == "shared" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        if (key == "frames") {
          out.frames = place_of(in, JsonKind::array);
          out.frames_end = in.offset();
        } else {
          in.skip();
        }
      }
    } else if (key == "profiles" && in.kind() == JsonKind::array) {
      out.profiles.clear();
      for (in.begin_array(); in.next_element();) {
        out.profiles.push_back(read_profile(in));
        out.profiles.back().index = out.profiles.size() - 1;
        if (in.ok()) continue;
        return tl::unexpected<Error>(
            Error(in.status().error()).in(fmt::format("profiles[{}]", out.profiles.size() - 1)));
      }
    } else {
      in.skip();
    }
  }
  PROFD_CHECK(in.finish());
  if (!out.frames) return fail(ErrorCode::malformed, "the file has no shared.frames");
  if (out.profiles.empty()) return fail(ErrorCode::malformed, "the file has no profiles");
  return out;
}

}  // namespace profd::speedscope
