// The files of clients/web that are part of this program.
#pragma once

#include <span>
#include <string_view>

namespace profd {

struct WebFile {
  std::string_view path;  // "/app.js"
  std::string_view type;  // "text/javascript; charset=utf-8"
  std::string_view bytes;
};

// Empty where the program was built without them. Made by cmake/EmbedFiles.cmake.
std::span<const WebFile> web_bundle();

}  // namespace profd
