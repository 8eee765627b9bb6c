#include "formats/support/json_fields.h"

namespace profd {

void JsonFields::add(JsonCursor& in, ProfileBuilder& builder, std::string_view key) {
  const JsonKind kind = in.kind();
  if (kind == JsonKind::null) return in.skip();
  if (kind == JsonKind::array || kind == JsonKind::object || labels_.size() >= kMost ||
      key.size() > kLongestText) {
    ++n_left_out_;
    return in.skip();
  }
  // Before the value is read, which the key may not outlive.
  Label label{.key = builder.string(key)};
  if (kind == JsonKind::boolean) {
    label.text = builder.string(in.boolean() ? "true" : "false");
  } else if (kind == JsonKind::number) {
    const JsonNumber number = in.number();
    label.is_number = number.is_integer;
    if (number.is_integer)
      label.number = number.integer;
    else
      label.text = builder.string(number.text);
  } else {
    const std::string_view text = in.string();
    if (text.size() > kLongestText) {
      ++n_left_out_;
      return;
    }
    label.text = builder.string(text);
  }
  if (in.ok()) labels_.push_back(label);
}

}  // namespace profd
