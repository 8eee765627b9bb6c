#include "server/engine/kernel_names.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/id.h"
#include "formats/source.h"
#include "formats/support/kallsyms.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "server/engine/joined_symbols.h"

namespace profd {
namespace {

constexpr std::string_view kReferenceKey = "kernel ";  // as the reader of perf.data writes it
constexpr std::uint64_t kMaxListBytes = std::uint64_t{256} << 20;
constexpr const char* kHidden =
    "the kernel hides where its code is from this user: sudo sysctl kernel.kptr_restrict=0";

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (unsigned byte = 0; byte < 4; ++byte)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + byte])) << (8 * byte);
  return number;
}

// Of the running kernel's notes, which are in the byte order of this machine; "" none.
std::string build_id_of_notes(std::string_view notes) {
  constexpr std::uint32_t kBuildId = 3;
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= 12) {
    const std::uint64_t name_size = number_at(notes, 0), size = number_at(notes, 4);
    const std::uint64_t begin = 12 + padded(name_size);
    if (begin + size > notes.size()) return {};
    if (number_at(notes, 8) == kBuildId && notes.substr(12, name_size) == std::string_view("GNU\0", 4)) {
      std::string id;
      for (const char c : notes.substr(begin, size))
        id += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return id;
    }
    notes.remove_prefix(std::min<std::uint64_t>(begin + padded(size), notes.size()));
  }
  return {};
}

std::string in_running(const SymbolPlaces& places, const std::string& path) {
  return places.kernel == "/" ? path : places.kernel + path;
}

std::string id_of_running(const std::string& path) {
  const auto notes = open_file(path, 1 << 20);
  return notes ? build_id_of_notes(notes->text()) : std::string();
}

// Where the running kernel has a module, from /proc/modules; 0 unknown, or hidden.
std::uint64_t base_of_module(const std::string& path, std::string_view module) {
  const auto list = open_file(path, kMaxListBytes);
  if (!list) return 0;
  LineReader lines(list->text());
  for (std::string_view line; lines.next(line);) {
    if (!line.starts_with(module) || !line.substr(module.size()).starts_with(' ')) continue;
    const std::size_t at = line.rfind(" 0x");
    std::uint64_t base = 0;
    const std::string_view digits =
        at == std::string_view::npos ? "" : line.substr(at + 3, line.find_first_of(" \t", at + 1) - at - 3);
    return parse_hex(digits, base) ? base : 0;
  }
  return 0;
}

// Ends of code, which nothing lies behind.
bool is_end(std::string_view name) {
  return name == "_etext" || name == "_einittext" || name == "__entry_text_end";
}

BinarySymbols name_by(const Kallsyms& kallsyms, const KernelQuestion& question, const std::string& module,
                      std::uint64_t shift, std::size_t& n_known) {
  BinarySymbols out = symbols_for(question.addresses.size());
  out.name = question.name;
  out.build_id = question.build_id;
  out.kind = question.kind;
  out.addresses = question.addresses;
  std::map<const KernelSymbol*, std::uint32_t> rows;
  for (std::size_t i = 0; i < question.addresses.size(); ++i) {
    const KernelSymbol* symbol = kallsyms.symbol_at(question.addresses[i] - shift);
    if (symbol == nullptr || symbol->module != module || is_end(symbol->name)) continue;
    const auto row = static_cast<std::uint32_t>(out.functions.size());
    const auto [known, is_new] = rows.try_emplace(symbol, row);
    out.link[i] = known->second;
    ++n_known;
    if (!is_new) continue;
    out.functions.name.push_back(static_cast<std::uint32_t>(out.texts.size()));
    out.functions.linkage_name.push_back(0);
    out.functions.file.push_back(0);
    out.functions.first_line.push_back(0);
    out.links.parent.push_back(kNone);
    out.links.function.push_back(row);
    out.links.file.push_back(0);
    out.links.line.push_back(0);
    out.links.column.push_back(0);
    out.texts.emplace_back(symbol->name);
  }
  return out;
}

class KernelNames {
 public:
  KernelNames(const KernelQuestion& question, const SymbolPlaces& places)
      : question_(question), places_(places) {}

  KernelAnswer run() && {
    if (question_.kind == AddressKind::loaded)
      of_kernel();
    else
      of_module(kernel_module(question_.name));
    if (answer_.symbols) answer_.problem.clear();
    return std::move(answer_);
  }

 private:
  void of_kernel() {
    if (question_.build_id.empty()) {
      answer_.problem = "the recording has no build id of the kernel";
      return;
    }
    if (!question_.reference) {
      answer_.problem = "the recording does not say where the kernel was";
      return;
    }
    SymbolSearch search(places_, question_.name, question_.build_id);
    if (const auto kept = search.kallsyms()) use(*kept, "", 0);
    if (answer_.symbols || !is_running("/sys/kernel/notes")) return;
    use(in_running(places_, "/proc/kallsyms"), "", 0);
  }

  void of_module(const std::string& module) {
    if (question_.build_id.empty()) {
      answer_.problem = "the recording has no build id of it";
      return;
    }
    if (!is_running(fmt::format("/sys/module/{}/notes/.note.gnu.build-id", module))) return;
    const std::uint64_t base = base_of_module(in_running(places_, "/proc/modules"), module);
    if (base == 0) {
      answer_.problem = kHidden;
      return;
    }
    use(in_running(places_, "/proc/kallsyms"), module, 0 - base);
  }

  bool is_running(const std::string& notes) {
    const std::string id = places_.kernel.empty() ? "" : id_of_running(in_running(places_, notes));
    if (id == question_.build_id) return true;
    answer_.problem = id.empty() ? "it does not run here"
                                 : fmt::format("the one that runs here is another build: {}, not {}", id,
                                               question_.build_id);
    return false;
  }

  void use(const std::string& path, const std::string& module, std::uint64_t shift) {
    const auto list = open_file(path, kMaxListBytes);
    if (!list) {
      answer_.tried.push_back({path, list.error().message, false});
      return;
    }
    const Kallsyms kallsyms(list->text());
    if (!kallsyms.usable()) {
      answer_.problem = kHidden;
      answer_.tried.push_back({path, "all addresses are hidden", false});
      return;
    }
    if (module.empty()) {
      const std::uint64_t listed = kallsyms.address_of(question_.reference->symbol);
      if (listed == 0) {
        answer_.problem = path + " does not have " + question_.reference->symbol;
        answer_.tried.push_back({path, "it does not have " + question_.reference->symbol, false});
        return;
      }
      shift = question_.reference->address - listed;
    }
    answer_.symbols = name_by(kallsyms, question_, module, shift, answer_.n_known);
    answer_.tried.push_back({path, "used", false});
  }

  const KernelQuestion& question_;
  const SymbolPlaces& places_;
  KernelAnswer answer_;
};

}  // namespace

std::optional<KernelReference> kernel_reference(const Profile& profile) {
  for (const auto& [key, value] : profile.info().properties) {
    KernelReference reference;
    if (!key.starts_with(kReferenceKey) || !value.starts_with("0x")) continue;
    if (!parse_hex(std::string_view(value).substr(2), reference.address)) continue;
    reference.symbol = key.substr(kReferenceKey.size());
    if (reference.symbol.starts_with('_')) return reference;
  }
  return std::nullopt;
}

std::string kernel_module(std::string_view name) {
  std::string module;
  if (name.starts_with("[vdso") || name.starts_with("[vsyscall")) return module;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    module = name.substr(1, name.size() - 2);
  } else {
    const std::string_view file = base_name(name);
    const std::size_t suffix = file.find(".ko");
    const std::string_view rest = suffix == std::string_view::npos ? "-" : file.substr(suffix + 3);
    if (rest.empty() || rest == ".xz" || rest == ".gz" || rest == ".zst") module = file.substr(0, suffix);
  }
  std::replace(module.begin(), module.end(), '-', '_');
  const bool is_plain = std::all_of(module.begin(), module.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  return is_plain ? module : std::string();
}

bool is_in_kallsyms(std::string_view name, AddressKind kind) {
  if (kind == AddressKind::loaded) return name == kKernelName;
  return kind == AddressKind::image_offset && !kernel_module(name).empty();
}

KernelAnswer kernel_names(const KernelQuestion& question, const SymbolPlaces& places) {
  return KernelNames(question, places).run();
}

}  // namespace profd
