#include "formats/support/jit_frames.h"

#include "formats/support/code_symbol.h"
#include "formats/support/demangle.h"

namespace profd {

void append_jit_frames(ProfileBuilder& builder, std::string_view symbol, ModuleId module,
                       std::uint64_t address, const JitLine* line, std::vector<FrameId>& out) {
  const std::vector<CodeSymbol> symbols = jit_symbols(symbol);
  for (std::size_t i = symbols.size(); i-- > 0;) {
    const CodeSymbol& part = symbols[i];
    const bool innermost = i + 1 == symbols.size();
    const std::string name = demangle(part.name);
    const std::string_view system = name == part.name ? part.system_name : std::string_view(part.name);
    const StringId line_file = innermost && line ? builder.string(line->file) : StringId{0u};
    FrameSpec spec;
    spec.function =
        builder.function(FunctionSpec{.name = builder.string(name),
                                      .system_name = builder.string(system),
                                      .file = part.file.empty() ? line_file : builder.string(part.file),
                                      .start_line = part.start_line});
    if (innermost && line) {
      spec.file = line_file;
      spec.line = line->line;
      spec.column = line->column;
    }
    spec.module = module;
    spec.address = address;
    spec.kind = part.kind;
    spec.inlined = i > 0;
    out.push_back(builder.frame(spec));
  }
}

}  // namespace profd
