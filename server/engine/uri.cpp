#include "server/engine/uri.h"

#include <algorithm>
#include <filesystem>

namespace profd {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0)
      return fail(ErrorCode::invalid, "a URI has a % that no two hex digits follow");
    out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return out;
}

}  // namespace

Result<std::string> path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  std::string path;
  if (uri.substr(0, kScheme.size()) == kScheme) {
    std::string_view rest = uri.substr(kScheme.size());
    if (const auto end = rest.find_first_of("?#"); end != rest.npos) rest = rest.substr(0, end);
    constexpr std::string_view kLocal = "localhost/";
    if (rest.substr(0, kLocal.size()) == kLocal) rest.remove_prefix(kLocal.size() - 1);
    PROFD_TRY(path, percent_decode(rest));
  } else if (!uri.empty() && uri.front() == '/') {
    path = uri;
  } else {
    return fail(ErrorCode::invalid, "only file: URIs and absolute paths can be opened");
  }
  if (path.empty() || path.front() != '/')
    return fail(ErrorCode::invalid, "a file URI needs an absolute path and no other host");
  if (path.find('\0') != path.npos) return fail(ErrorCode::invalid, "a path has a zero byte");
  path = std::filesystem::path(path).lexically_normal().string();
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string uri_of_path(std::string_view path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    }
  }
  return uri;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != kPlain.npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

Result<std::string> fragment_decoded(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return percent_decode(spaced);
}

bool lies_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace profd
