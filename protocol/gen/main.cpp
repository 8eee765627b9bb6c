// profd-gen: writes everything that follows from protocol/psp.json and protocol/live.json.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "protocol/gen/emit.h"
#include "protocol/gen/emit_live.h"
#include "protocol/gen/schema_check.h"
#include "protocol/gen/validity.h"

namespace profd::gen {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Leaves a file alone when its content is right already, so that builds stay quick.
void write_text(const std::filesystem::path& path, const std::string& content) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && read_text(path) == content) return;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

struct Arguments {
  std::string model;
  std::string schema;
  std::string out;
  std::string test_data;
  std::string compare;
  std::string check_data;
};

std::vector<OutputFile> all_outputs(const Json& document, const Model& model, const Json& live) {
  std::vector<OutputFile> files;
  for (auto emit : {emit_cpp, emit_typescript, emit_lua, emit_python, emit_json_schema, emit_docs})
    for (auto& file : emit(model)) files.push_back(std::move(file));
  for (auto& file : emit_resolved(document, model)) files.push_back(std::move(file));
  for (auto& file : emit_live(live)) files.push_back(std::move(file));
  return files;
}

// Whether the files under `root` are what the model gives; says which are not.
bool up_to_date(const std::vector<OutputFile>& files, const std::filesystem::path& root) {
  bool same = true;
  for (const auto& file : files) {
    std::error_code ignored;
    if (std::filesystem::exists(root / file.path, ignored) && read_text(root / file.path) == file.content)
      continue;
    std::fprintf(stderr, "%s is stale: run ./dev gen and commit the result\n", file.path.c_str());
    same = false;
  }
  return same;
}

// The generated JSON schema must agree with the model about every piece of test data.
bool schema_agrees(const std::filesystem::path& data, const std::filesystem::path& schema_path) {
  const Json schema = Json::parse(read_text(schema_path));
  std::size_t n_checked = 0;
  std::size_t n_wrong = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    const std::string name = entry.path().filename().string();
    const auto dash = name.find('-');
    if (dash == std::string::npos || entry.path().extension() != ".json") continue;
    const bool valid = name.compare(dash, 7, "-valid-") == 0;
    const std::string type = name.substr(0, dash);
    const auto fault =
        schema_fault(schema, schema.at("$defs").at(type), Json::parse(read_text(entry.path())), type);
    ++n_checked;
    if (fault.empty() == valid) continue;
    ++n_wrong;
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 fault.empty() ? "taken, though it is invalid" : fault.c_str());
  }
  std::printf("%zu files checked, %zu wrong\n", n_checked, n_wrong);
  return n_checked > 1000 && n_wrong == 0;
}

void write_test_data(const Model& model, const std::filesystem::path& folder) {
  const auto files = emit_test_data(model);
  std::set<std::string> names;
  for (const auto& file : files) names.insert(file.path);
  std::filesystem::create_directories(folder);
  // Of types that are gone, or now have fewer cases.
  std::vector<std::filesystem::path> stale;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (names.count(entry.path().filename().string()) == 0) stale.push_back(entry.path());
  for (const auto& path : stale) std::filesystem::remove(path);
  for (const auto& file : files) write_text(folder / file.path, file.content);
  std::printf("%zu files in %s\n", files.size(), folder.c_str());
}

bool run(const Arguments& arguments) {
  const Json document = Json::parse(read_text(arguments.model));
  const Json schema = Json::parse(read_text(arguments.schema));
  if (const auto fault = schema_fault(schema, schema, document, "psp.json"); !fault.empty())
    throw std::runtime_error(fault);
  const Model model = load_model(document);
  check_examples(model);
  const Json live =
      Json::parse(read_text(std::filesystem::path(arguments.model).parent_path() / "live.json"));
  if (!arguments.out.empty())
    for (const auto& file : all_outputs(document, model, live))
      write_text(std::filesystem::path(arguments.out) / file.path, file.content);
  if (!arguments.test_data.empty()) write_test_data(model, arguments.test_data);
  bool good = true;
  if (!arguments.compare.empty()) good = up_to_date(all_outputs(document, model, live), arguments.compare);
  if (!arguments.check_data.empty())
    good = schema_agrees(arguments.check_data, std::filesystem::path(arguments.model).parent_path() /
                                                   "generated/psp.jsonschema.json") &&
           good;
  return good;
}

int main_or_throw(int argc, char** argv) {
  CLI::App app("Writes types, codecs, schemas and documents from protocol/psp.json.");
  Arguments arguments;
  app.add_option("--model", arguments.model, "psp.json, with live.json beside it")->required();
  app.add_option("--schema", arguments.schema, "psp.schema.json, which psp.json must fit")->required();
  app.add_option("--out", arguments.out, "Root of the tree to write into");
  app.add_option("--compare", arguments.compare, "Root of a tree whose generated files must be up to date");
  app.add_option("--test-data", arguments.test_data,
                 "Folder to fill with generated test data; other files in it are removed");
  app.add_option("--check-data", arguments.check_data, "Folder of test data to try psp.jsonschema.json on");
  CLI11_PARSE(app, argc, argv);
  return run(arguments) ? 0 : 1;
}

}  // namespace
}  // namespace profd::gen

int main(int argc, char** argv) {
  try {
    return profd::gen::main_or_throw(argc, argv);
  } catch (const std::exception& error) {
    std::fputs("profd-gen: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
  } catch (...) {
    std::fputs("profd-gen: unknown failure\n", stderr);
  }
  return 1;
}
