// OTLP profiles (OpenTelemetry), docs/formats/otlp.md.
#include "formats/reader.h"

#include <array>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "formats/otlp/json.h"
#include "formats/otlp/profile.h"
#include "formats/support/json_keys.h"

namespace profd {
namespace {

using namespace otlp;

constexpr std::array<std::string_view, 2> kExtensions{".otlp", ".otlp.json"};
constexpr ReaderNotes kNotes{
    .versions = "v1development as of 1.8 to 1.10, protobuf and JSON, with or without the collector's lengths",
    .keeps =
        "samples with times, threads and attributes as labels, lines, columns, addresses, inlining, modules "
        "with build ids",
    .recording = "asprof -d 30 -o otlp -f out.otlp PID",
    .verified = "OpenTelemetry's Python classes: total and top functions of one file, samples of another",
};
// A file of many small profiles is a stream; more than this is no file to look at.
constexpr std::size_t kMaxProfiles = 10'000;

// What could be seen of a message before the end of the prefix.
enum class Look : std::uint8_t { no, plausible, sure };

// The header of a length-delimited field whose body may be cut off by the end of the prefix.
bool read_header(Cursor& cursor, std::uint32_t& number, Cursor& body, bool& cut) {
  std::uint64_t tag, size;
  Cursor at = cursor;
  if (!read_varint(at, tag) || (tag & 7) != 2 || !read_varint(at, size)) return false;
  number = static_cast<std::uint32_t>(tag >> 3);
  cut = size > at.left();
  body = {at.p, at.p + std::min<std::uint64_t>(size, at.left())};
  cursor.p = body.end;
  return true;
}

// A string table that begins with "" among tables of messages; nothing else is as plain as that.
Look look_at_dictionary(Cursor bytes) {
  std::size_t n_strings = 0, n_others = 0;
  while (!bytes.done()) {
    std::uint32_t number;
    Cursor body;
    bool cut;
    if (!read_header(bytes, number, body, cut)) return Look::no;
    namespace table = schema::profiles_dictionary;
    if (number == 0 || number >= std::size(table::wires)) return Look::no;
    if (number == table::string_table && n_strings++ == 0 && !body.done()) return Look::no;
    if (number != table::string_table) {
      ++n_others;
      Field field;
      // The items are messages: their fields are whole.
      for (Cursor item = body; !cut && !item.done();)
        if (!read_field(item, field) || field.number > 8) return Look::no;
    }
    if (cut) break;
  }
  return n_strings > 0 && n_others > 0 ? Look::sure : n_others > 2 ? Look::plausible : Look::no;
}

Look look_at_resource(Cursor bytes) {
  std::size_t n_scopes = 0;
  while (!bytes.done()) {
    std::uint32_t number;
    Cursor body;
    bool cut;
    if (!read_header(bytes, number, body, cut) || number == 0 ||
        number >= std::size(schema::resource_profiles::wires))
      return Look::no;
    if (number == schema::resource_profiles::scope_profiles) {
      ++n_scopes;
      std::uint32_t part;
      Cursor inner;
      bool inner_cut;
      if (!read_header(body, part, inner, inner_cut) || part == 0 ||
          part >= std::size(schema::scope_profiles::wires))
        return Look::no;
    }
    if (cut) break;
  }
  return n_scopes > 0 ? Look::plausible : Look::no;
}

Look look_at_message(Cursor bytes) {
  Look best = Look::no;
  while (!bytes.done()) {
    std::uint32_t number;
    Cursor body;
    bool cut;
    if (!read_header(bytes, number, body, cut) || number == 0 ||
        number >= std::size(schema::profiles_data::wires))
      return Look::no;
    const Look look =
        number == schema::profiles_data::dictionary ? look_at_dictionary(body) : look_at_resource(body);
    if (look == Look::no && !body.done()) return Look::no;
    best = std::max(best, look);
    if (cut) break;
  }
  return best;
}

// The collector's file exporter: a length of four bytes, big endian, in front of every message.
std::uint64_t frame_length(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  return length;
}

bool is_framed(std::span<const std::byte> bytes, bool whole) {
  if (bytes.size() < 6 || bytes[0] != std::byte{0}) return false;
  const std::uint64_t length = frame_length(bytes);
  if (length == 0 || (whole && length > bytes.size() - 4)) return false;
  const auto message = bytes.subspan(4, std::min<std::uint64_t>(length, bytes.size() - 4));
  return look_at_message(Cursor(message)) != Look::no;
}

bool is_json(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == '{';
}

class File {
 public:
  File(ReadContext& context, std::vector<ProfileBuilder>& profiles)
      : context_(context), profiles_(profiles) {}

  Result<void> read_message(std::span<const std::byte> bytes, const std::byte* file) {
    Cursor cursor(bytes);
    std::vector<Cursor> resources;
    Dictionary dictionary;
    while (!cursor.done()) {
      const std::uint8_t* at = cursor.p;
      Field field;
      if (!read_field(cursor, field))
        return fail(context_.partial ? ErrorCode::truncated : ErrorCode::malformed,
                    "broken field at the top of a message", offset_of(at, file));
      if (field.number >= std::size(schema::profiles_data::wires)) continue;
      if (field.wire != Wire::length)
        return fail(ErrorCode::malformed, "a field at the top of a message has the wrong wire type",
                    offset_of(at, file));
      if (field.number == schema::profiles_data::resource_profiles) {
        resources.push_back(field.bytes);
      } else {
        PROFD_TRY(dictionary, read_dictionary(field.bytes, file));
      }
    }
    std::vector<Found> found;
    for (Cursor resource : resources) PROFD_CHECK(read_resource(resource, dictionary, file, found));
    LayoutVotes votes;
    for (const Found& profile : found) {
      Cursor bytes_of = profile.bytes;
      Field field;
      while (!bytes_of.done() && read_field(bytes_of, field))
        if (field.number == schema::profile::samples && field.wire == Wire::length)
          votes.see_sample(field.bytes, dictionary);
    }
    if (votes.ambiguous())
      context_.report.add("layout-guessed", Severity::info,
                          "the samples fit two releases of the schema; they were read as the newer");
    for (const Found& profile : found) {
      if (profiles_.size() >= kMaxProfiles)
        return fail(ErrorCode::limit, fmt::format("the file holds more than {} profiles", kMaxProfiles));
      ProfileBuilder& builder = profiles_.emplace_back();
      builder.info().properties.emplace_back("otlp_layout", votes.layout() == Layout::v1_8 ? "1.8" : "1.10");
      PROFD_CHECK(read_profile(profile.bytes, file, dictionary, votes.layout(), around_[profile.around],
                               context_, builder));
    }
    around_.clear();
    context_.report.add("string-not-in-table", Severity::loss,
                        "strings past the end of their table are empty", std::nullopt,
                        dictionary.n_bad_strings);
    return {};
  }

 private:
  struct Found {
    Cursor bytes;
    std::size_t around;
  };

  Result<void> read_resource(Cursor bytes, const Dictionary& dictionary, const std::byte* file,
                             std::vector<Found>& found) {
    std::vector<Attribute> attributes;
    std::vector<Cursor> scopes;
    std::string url;
    while (!bytes.done()) {
      const std::uint8_t* at = bytes.p;
      Field field;
      if (!read_field(bytes, field))
        return fail(ErrorCode::malformed, "broken field in a resource", offset_of(at, file));
      if (field.wire != Wire::length) continue;
      if (field.number == schema::resource_profiles::resource)
        read_attributes(field.bytes, schema::resource::attributes, dictionary, attributes);
      if (field.number == schema::resource_profiles::scope_profiles) scopes.push_back(field.bytes);
      if (field.number == schema::resource_profiles::schema_url) url = to_text(field.bytes);
    }
    for (Cursor scope : scopes) {
      Surroundings around{attributes, {}};
      if (!url.empty()) around.properties.emplace_back("resource.schema_url", url);
      std::vector<Cursor> here;
      while (!scope.done()) {
        const std::uint8_t* at = scope.p;
        Field field;
        if (!read_field(scope, field))
          return fail(ErrorCode::malformed, "broken field in a scope", offset_of(at, file));
        if (field.wire != Wire::length) continue;
        if (field.number == schema::scope_profiles::profiles) here.push_back(field.bytes);
        if (field.number == schema::scope_profiles::schema_url && field.bytes.left() > 0)
          around.properties.emplace_back("scope.schema_url", to_text(field.bytes));
        if (field.number != schema::scope_profiles::scope) continue;
        namespace of = schema::instrumentation_scope;
        std::vector<Attribute> of_scope;
        read_attributes(field.bytes, of::attributes, dictionary, of_scope);
        for (const Attribute& a : of_scope) around.properties.emplace_back("scope." + a.key, a.text);
        Field part;
        for (Cursor body = field.bytes; !body.done() && read_field(body, part);) {
          if (part.wire != Wire::length || part.bytes.done()) continue;
          if (part.number == of::name) around.properties.emplace_back("scope.name", to_text(part.bytes));
          if (part.number == of::version)
            around.properties.emplace_back("scope.version", to_text(part.bytes));
        }
      }
      for (Cursor profile : here) found.push_back({profile, around_.size()});
      around_.push_back(std::move(around));
    }
    return {};
  }

  static void read_attributes(Cursor bytes, std::uint32_t number, const Dictionary& dictionary,
                              std::vector<Attribute>& out) {
    Field field;
    while (!bytes.done() && read_field(bytes, field))
      if (field.number == number && field.wire == Wire::length)
        out.push_back(read_key_value(field.bytes, dictionary));
  }

  ReadContext& context_;
  std::vector<ProfileBuilder>& profiles_;
  std::vector<Surroundings> around_;
};

class OtlpReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "otlp",
        "OTLP profiles",
        kExtensions,
        120,
        "OpenTelemetry eBPF profiler and collector, async-profiler, Pyroscope, Parca agent",
        3,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    if (is_json(text)) {
      const JsonKeys keys = json_keys(text);
      const bool sure = keys.has("resourceProfiles", JsonKind::array);
      return sure ? Confidence::certain : Confidence::no;
    }
    const Look look = look_at_message(Cursor(prefix));
    if (look == Look::sure || is_framed(prefix, at_end)) return Confidence::certain;
    return look == Look::plausible ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const auto bytes = source.bytes();
    if (is_json(source.text())) return read_json(source.text(), context, profiles);
    if (!is_framed(bytes, false)) return File(context, profiles).read_message(bytes, bytes.data());
    for (std::size_t at = 0; at < bytes.size();) {
      const std::uint64_t length = bytes.size() - at < 4 ? bytes.size() : frame_length(bytes.subspan(at));
      if (bytes.size() - at < 4 || length > bytes.size() - at - 4) {
        if (context.partial && !profiles.empty()) {
          context.report.add("truncated", Severity::loss, "the file ends inside a message, which is left out",
                             at);
          return {};
        }
        return fail(ErrorCode::truncated, "the file ends inside a message", at);
      }
      PROFD_CHECK(File(context, profiles).read_message(bytes.subspan(at + 4, length), bytes.data()));
      at += 4 + length;
    }
    return {};
  }

 private:
  static Result<void> read_json(std::string_view text, ReadContext& context,
                                std::vector<ProfileBuilder>& profiles) {
    const std::size_t size = text.size();
    while (is_json(text)) {
      PROFD_TRY(const std::string message, from_json(text, context.limits.nesting, size - text.size()));
      const auto bytes = std::as_bytes(std::span(message));
      auto read = File(context, profiles).read_message(bytes, bytes.data());
      // Places in the transcoded message mean nothing to anyone.
      if (!read) {
        Error error = std::move(read).error();
        error.offset = size - text.size();
        return tl::unexpected<Error>(std::move(error));
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_otlp_reader() {
  return std::make_unique<OtlpReader>();
}

}  // namespace profd
