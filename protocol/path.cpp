#include "protocol/path.h"

#include <vector>

namespace profd::protocol {

bool Path::fail(std::string_view message) const {
  if (root_->failed_) return false;
  root_->failed_ = true;
  root_->message_ = message;
  root_->place_ = describe();
  return false;
}

std::string Path::describe() const {
  std::vector<const Path*> links;
  for (const Path* link = this; link->parent_ != nullptr; link = link->parent_) links.push_back(link);
  std::string place = root_->name_;
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    if ((*link)->field_.empty()) {
      place += '[';
      place += std::to_string((*link)->index_);
      place += ']';
    } else {
      if (!place.empty()) place += '.';
      place += (*link)->field_;
    }
  }
  return place;
}

}  // namespace profd::protocol
