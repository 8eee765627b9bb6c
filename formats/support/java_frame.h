// A line of a Java stack trace: "java.lang.Object.wait(java.base@17.0.1/Object.java:338)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/profile_builder.h"

namespace profd {

struct JavaFrame {
  std::string_view name;    // class and method
  std::string_view module;  // "java.base", without its version; of the loader "app" or a module
  std::string_view file;    // "Object.java", "" unknown
  std::uint32_t line = 0;
};

// The path below a source root of the file that a class stands in: "com/acme/Foo.java" of com.acme.Foo and
// com.acme.Foo$Bar, by Java's rules, "com/acme/Foo.kt" of com.acme.FooKt, by Kotlin's. `file`: its base name
// where the profile has it, which then is not guessed. "" where the name is no class's. Packages are
// separated by '.' or '/'.
std::string java_source_path(std::string_view class_name, std::string_view file = {});

// What stands behind "at ". False when it has no place in brackets.
bool parse_java_frame(std::string_view text, JavaFrame& frame);

// How a method ran is not known from a trace: the kind stays native.
FrameId add_java_frame(ProfileBuilder& builder, const JavaFrame& frame);

}  // namespace profd
