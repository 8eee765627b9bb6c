#include "core/view/packages.h"

#include <algorithm>
#include <array>

#include "core/support/base_name.h"
#include "core/view/java_name.h"
#include "core/view/name_scan.h"

namespace profd {
namespace {

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(0, slash);
}

// Where a dot in a name follows a class, an object or an enclosing function.
bool dots_follow_classes(std::string_view file) {
  static constexpr std::array kEnds = {
      packed("py"),  packed("pyx"), packed("pyi"), packed("rb"),  packed("js"),  packed("mjs"), packed("cjs"),
      packed("jsx"), packed("ts"),  packed("tsx"), packed("mts"), packed("php"), packed("lua")};
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || file.size() - dot > 4) return false;
  return std::find(kEnds.begin(), kEnds.end(), packed(file.substr(dot + 1))) != kEnds.end();
}

// Classes have capitals where packages have none.
bool is_class(std::string_view part) {
  while (part.starts_with('_')) part.remove_prefix(1);
  return part.empty() || is_upper(part.front());
}

// "std::vector<…>::push_back" -> "std". A class alone before its method is no namespace.
std::string_view namespace_of(std::string_view head, std::size_t scope, std::string_view name) {
  const std::string_view first = head.substr(0, scope);
  const bool more = name.find("::", scope + 2) != std::string_view::npos;
  return is_class(first) && !more ? std::string_view() : first;
}

}  // namespace

std::string_view package_in_name(std::string_view name, std::string_view file) {
  std::string_view head = name.substr(0, name.find_first_of("(<[ "));
  if (const std::size_t scope = head.find("::"); scope != std::string_view::npos && scope > 0)
    return namespace_of(head, scope, name);
  head = head.substr(0, head.find('@'));  // the version of a linker symbol: cfree@GLIBC_2.2.5
  if (head.starts_with('{') || dots_follow_classes(file) || name.find(".<locals>") != std::string_view::npos)
    return {};
  if (const auto java = parse_java(name)) {
    const std::string_view last = java->parts[java->n_packages - 1];
    return name.substr(0, static_cast<std::size_t>(last.data() - name.data()) + last.size());
  }
  // Go: up to the first dot after the path.
  const std::size_t slash = head.rfind('/');
  const std::size_t dot = head.find('.', slash == std::string_view::npos ? 0 : slash);
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view after = head.substr(dot + 1, head.find('.', dot + 1) - dot - 1);
  if ((!after.empty() && is_digit(after.front())) || is_added_to_symbols(after) || after == "so") return {};
  if (slash == std::string_view::npos && is_class(head.substr(0, dot))) return {};
  return head.substr(0, dot);
}

std::string_view package_of(std::string_view name, std::string_view module, std::string_view file) {
  // Static binaries put everything into one module: the package tells more where the name has one.
  if (const std::string_view package = package_in_name(name, file); !package.empty()) return package;
  if (!module.empty()) return base_name(module);
  if (!file.empty()) return folder_of(file);
  return {};
}

std::string_view package_of(const Profile& profile, std::uint32_t frame) {
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  const StringTable& strings = profile.strings();
  const std::uint32_t function = frames.function[frame].v;
  const StringId file = functions.file[function].v != 0 ? functions.file[function] : frames.file[frame];
  const ModuleId module = frames.module[frame];
  return package_of(profile.function_name(FunctionId{function}),
                    module.valid() ? strings[profile.modules().name[module.v]] : std::string_view(),
                    strings[file]);
}

}  // namespace profd
