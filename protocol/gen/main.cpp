// profd-gen: writes everything that follows from protocol/psp.json.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

#include "protocol/gen/emit.h"

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
  std::string out;
  std::string test_data;
};

void run(const Arguments& arguments) {
  const Json document = Json::parse(read_text(arguments.model));
  const Model model = load_model(document);
  if (!arguments.out.empty()) {
    for (auto emit : {emit_cpp}) {
      for (const auto& file : emit(model))
        write_text(std::filesystem::path(arguments.out) / file.path, file.content);
    }
  }
}

}  // namespace
}  // namespace profd::gen

int main(int argc, char** argv) {
  CLI::App app("Writes types, codecs, schemas and documents from protocol/psp.json.");
  profd::gen::Arguments arguments;
  app.add_option("--model", arguments.model, "psp.json")->required();
  app.add_option("--out", arguments.out, "Root of the tree to write into");
  app.add_option("--test-data", arguments.test_data, "Folder for the generated test data");
  CLI11_PARSE(app, argc, argv);
  try {
    profd::gen::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "profd-gen: %s\n", error.what());
    return 1;
  }
  return 0;
}
