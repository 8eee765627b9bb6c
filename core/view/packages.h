// Packages: what functions are grouped by where they are coloured, listed and filtered as parts of a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace profd {

// The package or namespace in a function's name: "net/http", "java.util", "std". `file` is that of the
// function, "" unknown: in languages where a dot follows a class or an object (Python, Ruby, JavaScript) the
// name tells no package. "" where none is known.
std::string_view package_in_name(std::string_view name, std::string_view file);

// What a frame is of: the package in its name, else the file name of its module, else the folder of its file.
std::string_view package_of(std::string_view name, std::string_view module, std::string_view file);
std::string_view package_of(const Profile& profile, std::uint32_t frame);

}  // namespace profd
