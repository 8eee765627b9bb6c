// One function an output: the model in, files out.
#pragma once

#include <vector>

#include "protocol/gen/model.h"
#include "protocol/gen/text.h"

namespace profd::gen {

std::vector<OutputFile> emit_cpp(const Model& model);
std::vector<OutputFile> emit_typescript(const Model& model);
std::vector<OutputFile> emit_lua(const Model& model);
std::vector<OutputFile> emit_python(const Model& model);
std::vector<OutputFile> emit_json_schema(const Model& model);
std::vector<OutputFile> emit_docs(const Model& model);

// psp.metamodel.json: psp.json with mixins folded in and nothing else changed.
std::vector<OutputFile> emit_resolved(const Json& document, const Model& model);

// Type-valid-NNN.json and Type-invalid-NNN.json for every structure; paths are relative to the test data
// folder.
std::vector<OutputFile> emit_test_data(const Model& model);

}  // namespace profd::gen
