// A line of a Java stack trace: "java.lang.Object.wait(java.base@17.0.1/Object.java:338)".
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/profile_builder.h"

namespace profd {

struct JavaFrame {
  std::string_view name;    // class and method
  std::string_view module;  // "java.base", without its version; of the loader "app" or a module
  std::string_view file;    // "Object.java", "" unknown
  std::uint32_t line = 0;
};

// What stands behind "at ". False when it has no place in brackets.
bool parse_java_frame(std::string_view text, JavaFrame& frame);

// How a method ran is not known from a trace: the kind stays native.
FrameId add_java_frame(ProfileBuilder& builder, const JavaFrame& frame);

}  // namespace profd
