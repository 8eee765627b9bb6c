// JsonFields: what an event or a marker says beside its name, a JSON object, as fields of a profile. A member
// that is an object itself gives a field for each of its members, "outer.inner". Arrays, what lies deeper,
// long texts and what is more than kMost are left out and counted; null says nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/support/json_cursor.h"

namespace profd {

class JsonFields {
 public:
  static constexpr std::size_t kMost = 64, kLongestText = 4096;

  // At an object. `special(key, in)` may take a member of it: true, and the cursor is behind its value.
  template <class Special>
  LabelSetId read(JsonCursor& in, ProfileBuilder& builder, Special special) {
    labels_.clear();
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (special(key, in)) continue;
      if (in.kind() != JsonKind::object) {
        add(in, builder, key);
        continue;
      }
      name_ = key;
      name_ += '.';
      const std::size_t outer = name_.size();
      for (in.begin_object(); in.next_key(key);) {
        name_.resize(outer);
        name_ += key;
        add(in, builder, name_);
      }
    }
    return in.ok() ? builder.label_set(labels_) : LabelSetId{0u};
  }
  LabelSetId read(JsonCursor& in, ProfileBuilder& builder) {
    return read(in, builder, [](std::string_view, JsonCursor&) { return false; });
  }

  std::uint64_t n_left_out() const { return n_left_out_; }

 private:
  // A member whose value the cursor is at.
  void add(JsonCursor& in, ProfileBuilder& builder, std::string_view key);

  std::vector<Label> labels_;
  std::string name_;
  std::uint64_t n_left_out_ = 0;
};

}  // namespace profd
