#include "formats/otlp/json.h"

#include <bit>
#include <span>

#include <fmt/format.h>

#include "formats/otlp/profiles.fields.h"
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
const Member kArrayMembers[] = {{"values", schema::array_value::values, Kind::messages, &kAny}};
const Schema kArray{kArrayMembers};
const Member kListMembers[] = {{"values", schema::key_value_list::values, Kind::messages, &kKeyValue}};
const Schema kList{kListMembers};
const Member kAnyMembers[] = {
    {"stringValue", schema::any_value::string_value, Kind::text},
    {"boolValue", schema::any_value::bool_value, Kind::boolean},
    {"intValue", schema::any_value::int_value, Kind::integer},
    {"doubleValue", schema::any_value::double_value, Kind::real},
    {"arrayValue", schema::any_value::array_value, Kind::message, &kArray},
    {"kvlistValue", schema::any_value::kvlist_value, Kind::message, &kList},
    {"stringValueStrindex", schema::any_value::string_value_strindex, Kind::integer}};
const Schema kAny{kAnyMembers};
const Member kKeyValueMembers[] = {{"key", schema::key_value::key, Kind::text},
                                   {"value", schema::key_value::value, Kind::message, &kAny}};
const Schema kKeyValue{kKeyValueMembers};
const Member kValueTypeMembers[] = {{"typeStrindex", schema::value_type::type_strindex, Kind::integer},
                                    {"unitStrindex", schema::value_type::unit_strindex, Kind::integer}};
const Schema kValueType{kValueTypeMembers};
const Member kSampleMembers[] = {{"stackIndex", schema::sample::stack_index, Kind::integer},
                                 {"attributeIndices", schema::sample::attribute_indices, Kind::integers},
                                 {"linkIndex", schema::sample::link_index, Kind::integer},
                                 {"values", schema::sample::values, Kind::integers},
                                 {"timestampsUnixNano", schema::sample::timestamps_unix_nano, Kind::fixeds}};
const Schema kSample{kSampleMembers};
const Member kProfileMembers[] = {
    {"sampleType", schema::profile::sample_type, Kind::message, &kValueType},
    {"samples", schema::profile::samples, Kind::messages, &kSample},
    {"sample", schema::profile::samples, Kind::messages, &kSample},
    {"timeUnixNano", schema::profile::time_unix_nano, Kind::fixed},
    {"durationNano", schema::profile::duration_nano, Kind::integer},
    {"periodType", schema::profile::period_type, Kind::message, &kValueType},
    {"period", schema::profile::period, Kind::integer},
    {"profileId", schema::profile::profile_id, Kind::hex},
    {"droppedAttributesCount", schema::profile::dropped_attributes_count, Kind::integer},
    {"originalPayloadFormat", schema::profile::original_payload_format, Kind::text},
    {"attributeIndices", schema::profile::attribute_indices, Kind::integers}};
const Schema kProfile{kProfileMembers};
const Member kScopeMembers[] = {
    {"name", schema::instrumentation_scope::name, Kind::text},
    {"version", schema::instrumentation_scope::version, Kind::text},
    {"attributes", schema::instrumentation_scope::attributes, Kind::messages, &kKeyValue}};
const Schema kScope{kScopeMembers};
const Member kScopeProfilesMembers[] = {
    {"scope", schema::scope_profiles::scope, Kind::message, &kScope},
    {"profiles", schema::scope_profiles::profiles, Kind::messages, &kProfile},
    {"schemaUrl", schema::scope_profiles::schema_url, Kind::text}};
const Schema kScopeProfiles{kScopeProfilesMembers};
const Member kResourceMembers[] = {{"attributes", schema::resource::attributes, Kind::messages, &kKeyValue}};
const Schema kResource{kResourceMembers};
const Member kResourceProfilesMembers[] = {
    {"resource", schema::resource_profiles::resource, Kind::message, &kResource},
    {"scopeProfiles", schema::resource_profiles::scope_profiles, Kind::messages, &kScopeProfiles},
    {"schemaUrl", schema::resource_profiles::schema_url, Kind::text}};
const Schema kResourceProfiles{kResourceProfilesMembers};
const Member kMappingMembers[] = {{"memoryStart", schema::mapping::memory_start, Kind::integer},
                                  {"memoryLimit", schema::mapping::memory_limit, Kind::integer},
                                  {"fileOffset", schema::mapping::file_offset, Kind::integer},
                                  {"filenameStrindex", schema::mapping::filename_strindex, Kind::integer},
                                  {"attributeIndices", schema::mapping::attribute_indices, Kind::integers}};
const Schema kMapping{kMappingMembers};
const Member kLineMembers[] = {{"functionIndex", schema::line::function_index, Kind::integer},
                               {"line", schema::line::line, Kind::integer},
                               {"column", schema::line::column, Kind::integer}};
const Schema kLine{kLineMembers};
const Member kLocationMembers[] = {{"mappingIndex", schema::location::mapping_index, Kind::integer},
                                   {"address", schema::location::address, Kind::integer},
                                   {"lines", schema::location::lines, Kind::messages, &kLine},
                                   {"line", schema::location::lines, Kind::messages, &kLine},
                                   {"attributeIndices", schema::location::attribute_indices, Kind::integers}};
const Schema kLocation{kLocationMembers};
const Member kFunctionMembers[] = {
    {"nameStrindex", schema::function::name_strindex, Kind::integer},
    {"systemNameStrindex", schema::function::system_name_strindex, Kind::integer},
    {"filenameStrindex", schema::function::filename_strindex, Kind::integer},
    {"startLine", schema::function::start_line, Kind::integer}};
const Schema kFunction{kFunctionMembers};
const Member kLinkMembers[] = {{"traceId", schema::link::trace_id, Kind::hex},
                               {"spanId", schema::link::span_id, Kind::hex}};
const Schema kLink{kLinkMembers};
const Member kAttributeMembers[] = {
    {"keyStrindex", schema::key_value_and_unit::key_strindex, Kind::integer},
    {"value", schema::key_value_and_unit::value, Kind::message, &kAny},
    {"unitStrindex", schema::key_value_and_unit::unit_strindex, Kind::integer}};
const Schema kAttribute{kAttributeMembers};
const Member kStackMembers[] = {{"locationIndices", schema::stack::location_indices, Kind::integers}};
const Schema kStack{kStackMembers};
const Member kDictionaryMembers[] = {
    {"mappingTable", schema::profiles_dictionary::mapping_table, Kind::messages, &kMapping},
    {"locationTable", schema::profiles_dictionary::location_table, Kind::messages, &kLocation},
    {"functionTable", schema::profiles_dictionary::function_table, Kind::messages, &kFunction},
    {"linkTable", schema::profiles_dictionary::link_table, Kind::messages, &kLink},
    {"stringTable", schema::profiles_dictionary::string_table, Kind::texts},
    {"attributeTable", schema::profiles_dictionary::attribute_table, Kind::messages, &kAttribute},
    {"stackTable", schema::profiles_dictionary::stack_table, Kind::messages, &kStack}};
const Schema kDictionary{kDictionaryMembers};
const Member kDataMembers[] = {
    {"resourceProfiles", schema::profiles_data::resource_profiles, Kind::messages, &kResourceProfiles},
    {"dictionary", schema::profiles_data::dictionary, Kind::message, &kDictionary}};
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
