#include "formats/support/jit_frames.h"

#include "formats/support/code_symbol.h"
#include "formats/support/demangle.h"

namespace profd {

void append_jit_frames(ProfileBuilder& builder, std::string_view symbol, const JitPlace& place,
                       const JitLine* line, std::vector<FrameId>& out) {
  const std::vector<CodeSymbol> symbols = jit_symbols(symbol);
  std::vector<FunctionId> functions;  // outermost first
  for (const CodeSymbol& part : symbols) {
    const std::string name = demangle(part.name);
    const std::string_view system = name == part.name ? part.system_name : std::string_view(part.name);
    const bool by_line = part.file.empty() && line && &part == &symbols.back();
    functions.push_back(
        builder.function(FunctionSpec{.name = builder.string(name),
                                      .system_name = builder.string(system),
                                      .file = builder.string(by_line ? line->file : part.file),
                                      .start_line = part.start_line}));
  }
  if (symbols.empty()) return;
  FrameSpec spec;
  spec.module = place.module;
  spec.address = place.address;
  spec.is_return = place.is_return;
  spec.piece = builder.piece({.module = place.module,
                              .start = place.start,
                              .n_bytes = place.n_bytes,
                              .name = builder.string(symbol),
                              .function = functions.front()});
  for (std::size_t i = symbols.size(); i-- > 0;) {
    const bool innermost = i + 1 == symbols.size();
    spec.function = functions[i];
    spec.file = innermost && line ? builder.string(line->file) : StringId{0u};
    spec.line = innermost && line ? line->line : 0;
    spec.column = innermost && line ? line->column : 0;
    spec.kind = symbols[i].kind;
    spec.inlined = i > 0;
    out.push_back(builder.frame(spec));
  }
}

}  // namespace profd
