#include "core/support/file_identity.h"

#include <charconv>

namespace profd {
namespace {

template <class Number>
bool take_number(std::string_view& text, std::string_view end, Number& number) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  if (end.empty()) return text.empty();
  if (!text.starts_with(end)) return false;
  text.remove_prefix(end.size());
  return true;
}

}  // namespace

std::string identity_text(const FileIdentity& identity) {
  return std::to_string(identity.major) + ":" + std::to_string(identity.minor) + " " +
         std::to_string(identity.inode) + " " + std::to_string(identity.generation);
}

std::optional<FileIdentity> parse_identity(std::string_view text) {
  FileIdentity out;
  if (!take_number(text, ":", out.major) || !take_number(text, " ", out.minor) ||
      !take_number(text, " ", out.inode) || !take_number(text, "", out.generation) || out.inode == 0)
    return std::nullopt;
  return out;
}

}  // namespace profd
