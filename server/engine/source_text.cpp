#include "server/engine/source_text.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace profd {
namespace fs = std::filesystem;

std::optional<std::string> read_source(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMaxSourceBytes) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad() || !in.is_open()) return std::nullopt;
  return text;
}

bool is_local_file(std::string_view path) {
  if (path.size() < 2 || path[0] != '/' || path[1] == '/' || path.find('\0') != path.npos) return false;
  std::error_code error;
  return fs::is_regular_file(fs::path(path), error);
}

bool same_text(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  if (fs::file_size(a, error) != fs::file_size(b, error) || error) return false;
  const auto first = read_source(a);
  return first && first == read_source(b);
}

}  // namespace profd
