#include "server/cli/record_facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "server/platform/process.h"
#include "server/platform/run.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostManifest = std::size_t{1} << 20;

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_runnable(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// As a shell finds it; "" when it does not.
std::string found_on_path(const std::string& name) {
  if (name.find('/') != name.npos) return is_runnable(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string found = (folder.empty() ? "." : folder) + "/" + name;
    if (is_runnable(found)) return found;
  }
  return "";
}

std::string first_bytes(const std::string& path) {
  std::array<char, 256> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()))};
}

// "python3.12" of "python".
bool is_version_of(std::string_view name, std::string_view language) {
  return name.starts_with(language) &&
         name.substr(language.size()).find_first_not_of("0123456789.") == name.npos;
}

bool is_python(std::string_view name) {
  return is_version_of(name, "python");
}

bool is_ruby(std::string_view name) {
  return is_version_of(name, "ruby");
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The words before a command that let any program of this user read the process.
std::vector<std::string> words_that_let_read() {
  std::string scope;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope != "1") return {};
  const auto own = own_executable();
  return own ? std::vector<std::string>{*own, "record", "--let-read", "--"} : std::vector<std::string>{};
}

// Whether the section of the release profile has a line for `debug`.
bool says_debug(const std::string& manifest) {
  std::ifstream file(manifest);
  bool inside = false;
  std::size_t read = 0;
  for (std::string line; std::getline(file, line) && (read += line.size()) < kMostManifest;) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) continue;
    const std::string_view text = std::string_view(line).substr(begin);
    if (text.starts_with('['))
      inside = text.starts_with("[profile.release]") || text.starts_with("[profile.bench]");
    const std::string_view key = text.substr(0, text.find_first_of(" \t="));
    if ((inside && key == "debug") || key == "profile.release.debug" || key == "profile.bench.debug")
      return true;
  }
  return false;
}

}  // namespace

bool lacks_line_tables(const std::vector<std::string>& argv) {
  if (argv.size() < 2 || std::getenv("CARGO_PROFILE_RELEASE_DEBUG") != nullptr) return false;
  const auto own = std::find(argv.begin() + 1, argv.end(), "--");
  const auto has = [&](std::string_view word) { return std::find(argv.begin() + 1, own, word) != own; };
  if (!has("bench") && !has("--release") && !has("-r")) return false;
  // The package's, and those of the workspace around it.
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
    for (const char* name : {"Cargo.toml", ".cargo/config.toml"})
      if (says_debug((folder / name).string())) return false;
    if (folder == folder.parent_path()) break;
  }
  return true;
}

std::string perf_refusal(const std::string& perf) {
  std::array<char, 32> folder{"/tmp/profd-perf-XXXXXX"};
  if (::mkdtemp(folder.data()) == nullptr) return "perf cannot be tried: /tmp takes no folder";
  RunRequest request;
  request.argv = {perf, "record", "-q",           "-N", "-o", std::string(folder.data()) + "/perf.data",
                  "-F", "999",    "--call-graph", "fp", "--", "true"};
  request.timeout = std::chrono::seconds(20);
  const auto answer = run_program(request, StopToken{});
  std::error_code error;
  fs::remove_all(folder.data(), error);
  if (answer && answer->exit_code == 0) return "";
  std::string paranoid;
  std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> paranoid;
  return perf_refusal_text(paranoid, answer ? answer->errors : describe(answer.error()));
}

std::map<std::string, std::string> installed_of(const std::vector<std::string_view>& programs) {
  std::map<std::string, std::string> out;
  for (const std::string_view program : programs)
    if (std::string found = found_on_path(std::string(program)); !found.empty())
      out.emplace(program, std::move(found));
  return out;
}

std::vector<std::string> interpreter_of(std::string_view first_line) {
  std::istringstream words{std::string(first_line)};
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  if (!out.empty() && last_part(out.front()) == "env") {
    out.erase(out.begin());
    if (!out.empty() && out.front() == "-S") out.erase(out.begin());
  }
  return out;
}

ProgramKind kind_of(const std::vector<std::string>& argv, bool is_elf, std::string_view first_line) {
  const std::string_view name = last_part(argv.front());
  const std::size_t task = argv.size() > 2 && argv[1].starts_with('+') ? 2 : 1;
  if (name == "cargo" && argv.size() > task &&
      is_one_of(argv[task], {"run", "r", "test", "t", "bench", "nextest"}))
    return ProgramKind::cargo;
  if (name == "go" && argv.size() > 1 && argv[1] == "test") return ProgramKind::go_test;
  if (is_python(name)) return ProgramKind::python;
  if (is_one_of(name, {"node", "nodejs"})) return ProgramKind::node;
  if (is_one_of(name, {"npm", "npx", "yarn", "pnpm"})) return ProgramKind::node_runner;
  if (is_ruby(name)) return ProgramKind::ruby;
  if (name == "dotnet") return ProgramKind::dotnet;
  if (name == "java") return ProgramKind::java;
  if (is_one_of(name, {"mvn", "mvnw", "gradle", "gradlew", "sbt", "ant", "scala", "kotlin"}))
    return ProgramKind::java_build;
  if (is_elf) return ProgramKind::native;
  if (const auto interpreter = interpreter_of(first_line); !interpreter.empty()) {
    const std::string_view runs = last_part(interpreter.front());
    if (is_python(runs)) return ProgramKind::python;
    if (is_one_of(runs, {"node", "nodejs"})) return ProgramKind::node;
    if (is_ruby(runs)) return ProgramKind::ruby;
  }
  return ProgramKind::script;
}

Result<RecordFacts> facts_of(const std::vector<std::string>& argv, std::string_view with) {
  RecordFacts out;
  const std::string program = found_on_path(argv.front());
  if (program.empty())
    return fail(ErrorCode::not_found, fmt::format("there is no program {} that can be run", argv.front()));
  const std::string begin = first_bytes(program);
  const std::string first_line = begin.starts_with("#!") ? begin.substr(2, begin.find('\n') - 2) : "";
  out.kind = kind_of(argv,
                     begin.starts_with("\x7f"
                                       "ELF"),
                     first_line);
  out.argv = argv;
  // A script of such a language: the interpreter is what takes a profiler.
  const std::string_view name = last_part(argv.front());
  const bool by_first_line = (out.kind == ProgramKind::python && !is_python(name)) ||
                             (out.kind == ProgramKind::ruby && !is_ruby(name)) ||
                             (out.kind == ProgramKind::node && !is_one_of(name, {"node", "nodejs"}));
  if (by_first_line) {
    out.argv = interpreter_of(first_line);
    out.argv.push_back(program);
    out.argv.insert(out.argv.end(), argv.begin() + 1, argv.end());
  }
  out.installed = installed_of(programs_to_look_for(out.kind, with));
  if (const auto asprof = out.installed.find("asprof"); asprof != out.installed.end()) {
    // Its folder is bin/ of what was unpacked, and the library is in lib/ beside it.
    std::error_code error;
    const auto bin = std::filesystem::canonical(asprof->second, error).parent_path();
    const auto library = bin.parent_path() / "lib" / kAsyncProfilerAgent;
    if (!error && std::filesystem::exists(library, error))
      out.installed.emplace(kAsyncProfilerAgent, library.string());
    else
      out.installed.erase(asprof);
  }
  const bool samplers = std::any_of(out.installed.begin(), out.installed.end(),
                                    [](const auto& one) { return !sampler_ending(one.first).empty(); });
  if (samplers) out.let_read = words_that_let_read();
  if (const auto perf = out.installed.find("perf"); perf != out.installed.end())
    out.perf_refusal = perf_refusal(perf->second);
  if (const char* options = std::getenv("JAVA_TOOL_OPTIONS")) out.java_options = options;
  return out;
}

}  // namespace profd
