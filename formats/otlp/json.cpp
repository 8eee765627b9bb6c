#include "formats/otlp/json.h"

#include <bit>
#include <span>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/text_number.h"

namespace profd::otlp {
namespace {

enum class Kind : std::uint8_t {
  text,
  hex,
  integer,
  fixed,
  boolean,
  real,
  integers,
  fixeds,
  message,
  messages,
  texts
};

struct Member;
struct Schema {
  std::span<const Member> members;
};
struct Member {
  std::string_view name;
  std::uint32_t number;
  Kind kind;
  const Schema* schema = nullptr;
};

extern const Schema kAny, kKeyValue;
const Member kArrayMembers[] = {{"values", 1, Kind::messages, &kAny}};
const Schema kArray{kArrayMembers};
const Member kListMembers[] = {{"values", 1, Kind::messages, &kKeyValue}};
const Schema kList{kListMembers};
const Member kAnyMembers[] = {{"stringValue", 1, Kind::text},
                              {"boolValue", 2, Kind::boolean},
                              {"intValue", 3, Kind::integer},
                              {"doubleValue", 4, Kind::real},
                              {"arrayValue", 5, Kind::message, &kArray},
                              {"kvlistValue", 6, Kind::message, &kList},
                              {"stringValueStrindex", 8, Kind::integer}};
const Schema kAny{kAnyMembers};
const Member kKeyValueMembers[] = {{"key", 1, Kind::text}, {"value", 2, Kind::message, &kAny}};
const Schema kKeyValue{kKeyValueMembers};
const Member kValueTypeMembers[] = {{"typeStrindex", 1, Kind::integer}, {"unitStrindex", 2, Kind::integer}};
const Schema kValueType{kValueTypeMembers};
const Member kSampleMembers[] = {{"stackIndex", 1, Kind::integer},
                                 {"attributeIndices", 2, Kind::integers},
                                 {"linkIndex", 3, Kind::integer},
                                 {"values", 4, Kind::integers},
                                 {"timestampsUnixNano", 5, Kind::fixeds}};
const Schema kSample{kSampleMembers};
const Member kProfileMembers[] = {{"sampleType", 1, Kind::message, &kValueType},
                                  {"samples", 2, Kind::messages, &kSample},
                                  {"sample", 2, Kind::messages, &kSample},
                                  {"timeUnixNano", 3, Kind::fixed},
                                  {"durationNano", 4, Kind::integer},
                                  {"periodType", 5, Kind::message, &kValueType},
                                  {"period", 6, Kind::integer},
                                  {"profileId", 7, Kind::hex},
                                  {"droppedAttributesCount", 8, Kind::integer},
                                  {"originalPayloadFormat", 9, Kind::text},
                                  {"attributeIndices", 11, Kind::integers}};
const Schema kProfile{kProfileMembers};
const Member kScopeMembers[] = {
    {"name", 1, Kind::text}, {"version", 2, Kind::text}, {"attributes", 3, Kind::messages, &kKeyValue}};
const Schema kScope{kScopeMembers};
const Member kScopeProfilesMembers[] = {{"scope", 1, Kind::message, &kScope},
                                        {"profiles", 2, Kind::messages, &kProfile},
                                        {"schemaUrl", 3, Kind::text}};
const Schema kScopeProfiles{kScopeProfilesMembers};
const Member kResourceMembers[] = {{"attributes", 1, Kind::messages, &kKeyValue}};
const Schema kResource{kResourceMembers};
const Member kResourceProfilesMembers[] = {{"resource", 1, Kind::message, &kResource},
                                           {"scopeProfiles", 2, Kind::messages, &kScopeProfiles},
                                           {"schemaUrl", 3, Kind::text}};
const Schema kResourceProfiles{kResourceProfilesMembers};
const Member kMappingMembers[] = {{"memoryStart", 1, Kind::integer},
                                  {"memoryLimit", 2, Kind::integer},
                                  {"fileOffset", 3, Kind::integer},
                                  {"filenameStrindex", 4, Kind::integer},
                                  {"attributeIndices", 5, Kind::integers}};
const Schema kMapping{kMappingMembers};
const Member kLineMembers[] = {
    {"functionIndex", 1, Kind::integer}, {"line", 2, Kind::integer}, {"column", 3, Kind::integer}};
const Schema kLine{kLineMembers};
const Member kLocationMembers[] = {{"mappingIndex", 1, Kind::integer},
                                   {"address", 2, Kind::integer},
                                   {"lines", 3, Kind::messages, &kLine},
                                   {"line", 3, Kind::messages, &kLine},
                                   {"attributeIndices", 4, Kind::integers}};
const Schema kLocation{kLocationMembers};
const Member kFunctionMembers[] = {{"nameStrindex", 1, Kind::integer},
                                   {"systemNameStrindex", 2, Kind::integer},
                                   {"filenameStrindex", 3, Kind::integer},
                                   {"startLine", 4, Kind::integer}};
const Schema kFunction{kFunctionMembers};
const Member kLinkMembers[] = {{"traceId", 1, Kind::hex}, {"spanId", 2, Kind::hex}};
const Schema kLink{kLinkMembers};
const Member kAttributeMembers[] = {{"keyStrindex", 1, Kind::integer},
                                    {"value", 2, Kind::message, &kAny},
                                    {"unitStrindex", 3, Kind::integer}};
const Schema kAttribute{kAttributeMembers};
const Member kStackMembers[] = {{"locationIndices", 1, Kind::integers}};
const Schema kStack{kStackMembers};
const Member kDictionaryMembers[] = {{"mappingTable", 1, Kind::messages, &kMapping},
                                     {"locationTable", 2, Kind::messages, &kLocation},
                                     {"functionTable", 3, Kind::messages, &kFunction},
                                     {"linkTable", 4, Kind::messages, &kLink},
                                     {"stringTable", 5, Kind::texts},
                                     {"attributeTable", 6, Kind::messages, &kAttribute},
                                     {"stackTable", 7, Kind::messages, &kStack}};
const Schema kDictionary{kDictionaryMembers};
const Member kDataMembers[] = {{"resourceProfiles", 1, Kind::messages, &kResourceProfiles},
                               {"dictionary", 2, Kind::message, &kDictionary}};
const Schema kData{kDataMembers};

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_fixed(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
}

void put_bytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_varint(out, number << 3 | 2);
  put_varint(out, bytes.size());
  out += bytes;
}

class Transcoder {
 public:
  explicit Transcoder(JsonCursor& in) : in_(in) {}

  // As deep as the schema goes, and for nested values as deep as the cursor allows.
  void message(const Schema& schema, std::string& out) {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const Member* member = nullptr;
      for (const Member& m : schema.members)
        if (m.name == key) member = &m;
      if (!member || in_.kind() == JsonKind::null)
        in_.skip();
      else
        value(*member, out);
    }
  }

 private:
  // 64-bit integers may be strings.
  std::uint64_t integer() {
    if (in_.kind() != JsonKind::string) return static_cast<std::uint64_t>(in_.integer());
    const std::uint64_t at = in_.offset();
    const std::string_view text = in_.string();
    std::uint64_t number = 0;
    std::int64_t negative = 0;
    if (parse_uint(text, number)) return number;
    if (!parse_int(text, negative))
      in_.fail_at(at, ErrorCode::malformed, "a string that should be a number is none");
    return static_cast<std::uint64_t>(negative);
  }

  void value(const Member& member, std::string& out) {
    std::string body;
    switch (member.kind) {
      case Kind::text:
        put_bytes(out, member.number, in_.string());
        break;
      case Kind::texts:
        for (in_.begin_array(); in_.next_element();) put_bytes(out, member.number, in_.string());
        break;
      case Kind::hex: {
        const std::uint64_t at = in_.offset();
        const std::string_view text = in_.string();
        for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
          std::uint64_t byte = 0;
          if (!parse_hex(text.substr(i, 2), byte)) {
            in_.fail_at(at, ErrorCode::malformed, "an id is not in hexadecimal");
            break;
          }
          body += static_cast<char>(byte);
        }
        put_bytes(out, member.number, body);
        break;
      }
      case Kind::integer:
        put_varint(out, member.number << 3);
        put_varint(out, integer());
        break;
      case Kind::fixed:
        put_varint(out, member.number << 3 | 1);
        put_fixed(out, integer());
        break;
      case Kind::boolean:
        put_varint(out, member.number << 3);
        put_varint(out, in_.boolean() ? 1 : 0);
        break;
      case Kind::real:
        put_varint(out, member.number << 3 | 1);
        put_fixed(out, std::bit_cast<std::uint64_t>(in_.number().value));
        break;
      case Kind::integers:
        for (in_.begin_array(); in_.next_element();) put_varint(body, integer());
        put_bytes(out, member.number, body);
        break;
      case Kind::fixeds:
        for (in_.begin_array(); in_.next_element();) put_fixed(body, integer());
        put_bytes(out, member.number, body);
        break;
      case Kind::message:
        message(*member.schema, body);
        put_bytes(out, member.number, body);
        break;
      case Kind::messages:
        for (in_.begin_array(); in_.next_element();) {
          body.clear();
          message(*member.schema, body);
          put_bytes(out, member.number, body);
        }
        break;
    }
  }

  JsonCursor& in_;
};

}  // namespace

Result<std::string> from_json(std::string_view& text, std::uint32_t max_depth, std::uint64_t base) {
  JsonCursor in(text, max_depth, base);
  std::string out;
  Transcoder(in).message(kData, out);
  PROFD_CHECK(in.status());
  const std::uint64_t end = in.offset() - base;
  text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end), text.size()));
  return out;
}

}  // namespace profd::otlp
