#include "server/engine/live_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/view/packages.h"

namespace profd {
namespace {

std::string_view without_ending(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string with_slashes(std::string_view package) {
  std::string out(package);
  // Java's and Python's packages; those of Go have hosts with dots, and slashes already.
  if (package.find('/') == std::string_view::npos) std::replace(out.begin(), out.end(), '.', '/');
  return out;
}

constexpr std::string_view kNode = "node:";  // before files of Node itself

// Folders that hold what others wrote: what lies below is called as they call it.
constexpr std::array<std::string_view, 3> kOfOthers{"/node_modules/", "/site-packages/", "/dist-packages/"};

// "file:///w/app/src/view.js" -> "src"; "/w/node_modules/express/lib/router.js" -> "express/lib".
std::string package_of_file(std::string_view file) {
  constexpr std::string_view kFile = "file://";
  if (file.starts_with(kFile)) file.remove_prefix(kFile.size());
  const std::string_view base = base_name(file);
  std::string_view folder = file.substr(0, file.size() - std::min(file.size(), base.size()));
  while (folder.ends_with('/')) folder.remove_suffix(1);
  if (file.starts_with(kNode)) {
    folder = folder.substr(std::min(folder.size(), kNode.size()));
    return folder.empty() ? "node" : fmt::format("node/{}", folder);
  }
  const std::string whole = std::string(folder) + "/";
  for (const std::string_view others : kOfOthers)
    if (const std::size_t at = whole.rfind(others); at != std::string::npos) {
      const std::string rest = whole.substr(at + others.size());
      return rest.substr(0, rest.size() - std::min<std::size_t>(rest.size(), 1));
    }
  // The library of Python itself.
  if (const std::size_t at = whole.rfind("/python3"); at != std::string::npos) {
    std::string below = "python" + whole.substr(whole.find('/', at + 1));
    below.pop_back();
    return below;
  }
  return std::string(base_name(folder));
}

// Where the last part of a name begins, outside of parameters and template arguments.
std::size_t last_part(std::string_view name, std::string_view separator) {
  std::size_t found = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[') {
      if (c == '(' && depth == 0 && found != std::string_view::npos && i > found) {
        // Parameters of the function end what is looked at; a receiver of Go, "(*T)", stands at the begin.
        break;
      }
      ++depth;
    } else if (c == '>' || c == ')' || c == ']') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0 && name.substr(i).starts_with(separator)) {
      found = i;
    }
  }
  return found;
}

std::string without_receiver_marks(std::string_view name) {
  if (name.starts_with("(*") && name.ends_with(')')) name = name.substr(2, name.size() - 3);
  return std::string(name);
}

}  // namespace

LiveNameParts live_name_parts(std::string_view name, std::string_view module, std::string_view file,
                              unsigned line) {
  LiveNameParts parts;
  const std::string_view base =
      without_ending(base_name(file.starts_with(kNode) ? file.substr(kNode.size()) : file));
  const std::string_view package = package_in_name(name, file);
  if (package.empty()) {
    parts.package = !file.empty() ? package_of_file(file) : std::string(base_name(module));
    parts.class_name = base;
    parts.method = name;
    // A class that is named as its file is.
    if (!base.empty() && name.size() > base.size() + 1 && name.starts_with(base) && name[base.size()] == '.')
      parts.method = name.substr(base.size() + 1);
    if (name.empty() || name == "(anonymous)" || name == "(anonymous function)")
      parts.method = line == 0 ? "(anonymous)" : fmt::format("(anonymous):{}", line);
    return parts;
  }
  parts.package = with_slashes(package);
  std::string_view rest =
      name.substr(static_cast<std::size_t>(package.data() - name.data()) + package.size());
  const std::string_view separator = rest.starts_with("::") ? "::" : ".";
  if (rest.starts_with(separator) || rest.starts_with('/'))
    rest.remove_prefix(rest.starts_with("::") ? 2 : 1);
  const std::size_t at = last_part(rest, separator);
  // "work.func1" of Go is a function in a function: what has a class has a capital or a receiver.
  const bool has_class =
      at != std::string_view::npos && at > 0 &&
      (separator == "::" || rest.front() == '(' || (rest.front() >= 'A' && rest.front() <= 'Z'));
  parts.class_name = has_class ? without_receiver_marks(rest.substr(0, at)) : std::string(base);
  parts.method = has_class ? rest.substr(at + separator.size()) : rest;
  if (parts.method.empty()) parts.method = name;
  return parts;
}

}  // namespace profd
