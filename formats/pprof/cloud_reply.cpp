#include "formats/pprof/cloud_reply.h"

#include <algorithm>

#include "formats/support/gzip.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd::pprof {
namespace {

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

// Of either alphabet, padded or not.
bool decode_base64(std::string_view text, std::string& out) {
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  out.clear();
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) return false;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFF;
    n_bits += 6;
    if (n_bits < 8) continue;
    n_bits -= 8;
    out.push_back(static_cast<char>(bits >> n_bits & 0xFF));
  }
  return true;
}

class Reading {
 public:
  Reading(const ByteSource& source, ReadContext& context, const DecodedText& text)
      : source_(source), context_(context), in_(text.text, context.limits.nesting, text.offset) {}

  Result<std::vector<CloudProfile>> run() {
    if (in_.kind() == JsonKind::array) {
      PROFD_CHECK(profiles());
    } else {
      PROFD_CHECK(object());
    }
    PROFD_CHECK(in_.finish());
    if (profiles_.empty()) return fail(ErrorCode::malformed, "there are no profileBytes");
    return std::move(profiles_);
  }

 private:
  Result<void> profiles() {
    for (in_.begin_array(); in_.next_element();) PROFD_CHECK(object());
    return {};
  }

  // A profile, or the reply that has several in `profiles`.
  Result<void> object() {
    CloudProfile profile;
    bool has_bytes = false;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (key == "profiles" && kind == JsonKind::array && in_.depth() < 3) {
        PROFD_CHECK(profiles());
      } else if (key == "profileBytes" && kind == JsonKind::string) {
        const std::uint64_t at = in_.offset();
        PROFD_TRY(profile.source, unpack(in_.string(), at));
        has_bytes = true;
      } else if (key == "profileType" && kind == JsonKind::string) {
        profile.type = in_.string();
      } else if (key == "deployment" && kind == JsonKind::object) {
        properties(profile, 2);
      } else if (key == "labels" && kind == JsonKind::object) {
        properties(profile, 1);
      } else {
        in_.skip();
      }
    }
    PROFD_CHECK(in_.status());
    if (has_bytes) profiles_.push_back(std::move(profile));
    return {};
  }

  void properties(CloudProfile& profile, int levels) {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      std::string name(key);
      if (in_.kind() == JsonKind::string)
        profile.properties.emplace_back(std::move(name), std::string(in_.string()));
      else if (levels > 1 && in_.kind() == JsonKind::object)
        properties(profile, levels - 1);
      else
        in_.skip();
    }
  }

  Result<ByteSource> unpack(std::string_view text, std::uint64_t at) {
    if (!in_.ok()) return tl::unexpected<Error>(in_.status().error());
    std::string bytes;
    if (!decode_base64(text, bytes)) return fail(ErrorCode::malformed, "profileBytes are no base64", at);
    ByteSource packed = memory_source(std::move(bytes), source_.name());
    packed.set_private(true);
    if (!is_gzip(packed.bytes())) return packed;
    ExpandOptions options;
    options.limit = {context_.limits.expanded_bytes - n_expanded_, "expanded_bytes"};
    const std::uint64_t by_ratio = packed.bytes().size() * context_.limits.expansion_ratio;
    if (by_ratio < options.limit.bytes) options.limit = {by_ratio, "expansion_ratio"};
    options.stop = context_.stop;
    PROFD_TRY(Expanded expanded, gunzip(packed.bytes(), options, context_.report));
    n_expanded_ += expanded.bytes.size();
    ByteSource out(expanded.bytes, expanded.owner, source_.name());
    out.set_private(true);
    return out;
  }

  const ByteSource& source_;
  ReadContext& context_;
  JsonCursor in_;
  std::vector<CloudProfile> profiles_;
  std::uint64_t n_expanded_ = 0;
};

}  // namespace

bool is_cloud_reply(std::span<const std::byte> prefix) {
  const JsonPrefix text(prefix);
  const JsonKeys keys = json_keys(text.text());
  if (keys.kind() != JsonKind::object) return false;
  if (keys.has("profileBytes", JsonKind::string)) return true;
  const JsonKey* profiles = keys.find("profiles");
  return profiles != nullptr && profiles->kind == JsonKind::array &&
         json_keys(profiles->value).has("profileBytes", JsonKind::string);
}

Result<std::vector<CloudProfile>> read_cloud_reply(const ByteSource& source, ReadContext& context) {
  const DecodedText text = decode_text(source);
  return Reading(source, context, text).run();
}

}  // namespace profd::pprof
