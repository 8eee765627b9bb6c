// profd-field-numbers: from a schema, as protoc describes it (--descriptor_set_out), to a header with the
// number and the wire type of every field. Readers and writers name fields by it; nothing of protobuf is
// linked into profd.
//
// usage: profd-field-numbers DESCRIPTOR_SET HEADER
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.pb.h>

namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::EnumDescriptorProto;
using google::protobuf::FieldDescriptorProto;
using google::protobuf::FileDescriptorProto;

// "ValueType" -> "value_type".
std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    if (upper && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

std::string constant(const std::string& name, int number) {
  return "inline constexpr std::uint32_t " + name + " = " + std::to_string(number) + ";\n";
}

// How one value is written; repeated numbers may also stand packed in a length-delimited field.
const char* wire_of(const FieldDescriptorProto& field) {
  switch (field.type()) {
    case FieldDescriptorProto::TYPE_DOUBLE:
    case FieldDescriptorProto::TYPE_FIXED64:
    case FieldDescriptorProto::TYPE_SFIXED64:
      return "fixed64";
    case FieldDescriptorProto::TYPE_FLOAT:
    case FieldDescriptorProto::TYPE_FIXED32:
    case FieldDescriptorProto::TYPE_SFIXED32:
      return "fixed32";
    case FieldDescriptorProto::TYPE_STRING:
    case FieldDescriptorProto::TYPE_BYTES:
    case FieldDescriptorProto::TYPE_MESSAGE:
      return "length";
    default:
      return "varint";
  }
}

std::string text_of(const DescriptorProto& message) {
  std::string out = "\nnamespace " + snake_case(message.name()) + " {\n";
  if (message.field_size() > 0) {
    int last = 0;
    for (const FieldDescriptorProto& field : message.field()) {
      out += constant(field.name(), field.number());
      last = std::max(last, field.number());
    }
    std::vector<const char*> wires(static_cast<std::size_t>(last) + 1, "none");
    for (const FieldDescriptorProto& field : message.field())
      wires[static_cast<std::size_t>(field.number())] = wire_of(field);
    out += "// By number.\ninline constexpr profd::protobuf::Wire wires[] = {\n";
    for (const char* wire : wires) out += std::string("    profd::protobuf::Wire::") + wire + ",\n";
    out += "};\n";
  }
  return out + "}\n";
}

std::string text_of(const EnumDescriptorProto& type) {
  std::string out = "\nnamespace " + snake_case(type.name()) + " {\n";
  for (const auto& value : type.value()) out += constant(snake_case(value.name()), value.number());
  return out + "}\n";
}

std::string text_of(const FileDescriptorProto& file) {
  std::string scope;
  for (const char c : file.package()) scope += c == '.' ? std::string("::") : std::string(1, c);
  std::string out = "// Made of " + file.name() +
                    " by profd-field-numbers.\n#pragma once\n\n#include <cstdint>\n\n"
                    "#include \"core/support/protobuf_wire.h\"\n\nnamespace " +
                    scope + " {\n";
  for (const DescriptorProto& message : file.message_type()) out += text_of(message);
  for (const EnumDescriptorProto& type : file.enum_type()) out += text_of(type);
  return out + "\n}  // namespace " + scope + "\n";
}

bool is_flat(const FileDescriptorProto& file) {
  return std::all_of(file.message_type().begin(), file.message_type().end(),
                     [](const DescriptorProto& m) { return m.nested_type_size() + m.enum_type_size() == 0; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s DESCRIPTOR_SET HEADER\n", argv[0]), 2;
  std::ifstream in(argv[1], std::ios::binary);
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromIstream(&in) || set.file_size() != 1 || !is_flat(set.file(0)))
    return std::fprintf(stderr, "%s: not one schema with messages and enums at its top alone\n", argv[1]), 1;
  std::ofstream out(argv[2], std::ios::binary);
  out << text_of(set.file(0));
  out.close();
  return out ? 0 : (std::fprintf(stderr, "%s cannot be written\n", argv[2]), 1);
}
