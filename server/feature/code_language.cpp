#include "server/feature/code_language.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace profd {
namespace {

struct LanguageWord {
  std::string_view word;
  CodeLanguage language;
};

constexpr LanguageWord kLanguageOfFormat[] = {
    {"austin", CodeLanguage::python},
    {"pstats", CodeLanguage::python},
    {"pyinstrument", CodeLanguage::python},
    {"scalene", CodeLanguage::python},
    {"tachyon", CodeLanguage::python},
    {"memray", CodeLanguage::python},
    {"rbspy", CodeLanguage::ruby},
    {"ruby-prof", CodeLanguage::ruby},
    {"stackprof", CodeLanguage::ruby},
    {"cpuprofile", CodeLanguage::javascript},
    {"heapprofile", CodeLanguage::javascript},
    {"safari", CodeLanguage::javascript},
    {"v8log", CodeLanguage::javascript},
    {"async-profiler-html", CodeLanguage::jvm},
    {"async-profiler-text", CodeLanguage::jvm},
    {"hprof", CodeLanguage::jvm},
    {"jfr", CodeLanguage::jvm},
    {"jstack", CodeLanguage::jvm},
    {"nettrace", CodeLanguage::dotnet},
    {"xdebug-trace", CodeLanguage::php},
};

// Parts of what a profiler calls itself.
constexpr LanguageWord kLanguageOfProfiler[] = {
    {"py-spy", CodeLanguage::python},       {"pyinstrument", CodeLanguage::python},
    {"austin", CodeLanguage::python},       {"memray", CodeLanguage::python},
    {"rbspy", CodeLanguage::ruby},          {"stackprof", CodeLanguage::ruby},
    {"vernier", CodeLanguage::ruby},        {"async-profiler", CodeLanguage::jvm},
    {"phpspy", CodeLanguage::php},          {"excimer", CodeLanguage::php},
    {"dotnet-trace", CodeLanguage::dotnet},
};

constexpr LanguageWord kLanguageOfExtension[] = {
    {"py", CodeLanguage::python},      {"pyx", CodeLanguage::python},     {"rb", CodeLanguage::ruby},
    {"erb", CodeLanguage::ruby},       {"js", CodeLanguage::javascript},  {"mjs", CodeLanguage::javascript},
    {"cjs", CodeLanguage::javascript}, {"jsx", CodeLanguage::javascript}, {"ts", CodeLanguage::javascript},
    {"tsx", CodeLanguage::javascript}, {"java", CodeLanguage::jvm},       {"kt", CodeLanguage::jvm},
    {"scala", CodeLanguage::jvm},      {"clj", CodeLanguage::jvm},        {"groovy", CodeLanguage::jvm},
    {"cs", CodeLanguage::dotnet},      {"fs", CodeLanguage::dotnet},      {"php", CodeLanguage::php},
    {"go", CodeLanguage::go},          {"c", CodeLanguage::native},       {"cc", CodeLanguage::native},
    {"cpp", CodeLanguage::native},     {"cxx", CodeLanguage::native},     {"h", CodeLanguage::native},
    {"hh", CodeLanguage::native},      {"hpp", CodeLanguage::native},     {"rs", CodeLanguage::native},
    {"swift", CodeLanguage::native},   {"m", CodeLanguage::native},       {"mm", CodeLanguage::native},
    {"f90", CodeLanguage::native},     {"S", CodeLanguage::native},       {"s", CodeLanguage::native},
};

constexpr std::size_t kNLanguages = static_cast<std::size_t>(CodeLanguage::php) + 1;

CodeLanguage by_extension(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == file.npos) return CodeLanguage::unknown;
  const std::string_view extension = file.substr(dot + 1);
  const auto found = std::find_if(std::begin(kLanguageOfExtension), std::end(kLanguageOfExtension),
                                  [&](const LanguageWord& known) { return known.word == extension; });
  return found == std::end(kLanguageOfExtension) ? CodeLanguage::unknown : found->language;
}

}  // namespace

CodeLanguage language_of(const Profile& profile) {
  for (const LanguageWord& known : kLanguageOfFormat)
    if (profile.info().format == known.word) return known.language;
  for (const LanguageWord& known : kLanguageOfProfiler)
    if (profile.info().producer.find(known.word) != std::string::npos) return known.language;
  std::array<std::size_t, kNLanguages> n{};
  const FunctionTable& functions = profile.functions();
  for (std::size_t f = 0; f < functions.size(); ++f)
    if (functions.file[f].v != 0)
      ++n[static_cast<std::size_t>(by_extension(profile.strings()[functions.file[f]]))];
  n[0] = 0;
  const auto most = std::max_element(n.begin(), n.end());
  return *most == 0 ? CodeLanguage::unknown : static_cast<CodeLanguage>(most - n.begin());
}

}  // namespace profd
