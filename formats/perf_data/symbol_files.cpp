#include "formats/perf_data/symbol_files.h"

#include <algorithm>

#include <fmt/format.h>

namespace profd::perf_data {

std::shared_ptr<const LoadedPerfMap> SymbolFiles::perf_map(std::uint32_t pid) {
  if (!beside_) return nullptr;
  const auto [at, is_new] = perf_maps_.try_emplace(pid);
  if (!is_new) return at->second;
  const std::string file = fmt::format("perf-{}.map", pid);
  if (!beside_->has(file)) return nullptr;
  const auto source = beside_->open(file);
  if (!source) {
    report_.add("symbol-file", Severity::loss, file + " could not be read: " + describe(source.error()));
    return nullptr;
  }
  auto loaded = std::make_shared<LoadedPerfMap>();
  loaded->module = "/tmp/" + file;
  loaded->text = decode_text(*source);
  loaded->map = parse_perf_map(loaded->text.text);
  report_.add("perf-map-lines", Severity::loss, "lines of " + file + " that are no symbol were not read",
              std::nullopt, loaded->map.n_malformed);
  at->second = std::move(loaded);
  return at->second;
}

std::shared_ptr<const LoadedJitDump> SymbolFiles::jit_dump(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with("jit-") || !file.ends_with(".dump") || file.size() < 10) return nullptr;
  const std::string_view digits = file.substr(4, file.size() - 9);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return nullptr;
  const auto known = jit_dumps_.find(file);
  if (known != jit_dumps_.end()) return known->second;
  const auto missing = [&](const std::string& why) {
    report_.add("jitdump-missing", Severity::info,
                fmt::format("symbols of JIT code are in {}, {}", file, why));
    jit_dumps_.emplace(file, nullptr);
    return nullptr;
  };
  if (!beside_ || !beside_->has(file)) return missing("which is not beside the recording");
  auto loaded = std::make_shared<LoadedJitDump>();
  auto source = beside_->open(file);
  if (!source) return missing("which could not be read: " + describe(source.error()));
  loaded->bytes = std::move(*source);
  auto dump = parse_jitdump(loaded->bytes.bytes());
  if (!dump) return missing("which could not be read: " + describe(dump.error()));
  loaded->dump = std::move(*dump);
  loaded->module = std::string(file);
  jit_dumps_.emplace(file, loaded);
  return loaded;
}

const Kallsyms* SymbolFiles::kallsyms() {
  if (!beside_ || kallsyms_read_) return kallsyms_.get();
  kallsyms_read_ = true;
  if (!beside_->has("kallsyms")) return nullptr;
  const auto source = beside_->open("kallsyms");
  if (!source) return nullptr;
  kallsyms_text_ = decode_text(*source);
  kallsyms_ = std::make_unique<Kallsyms>(kallsyms_text_.text);
  if (!kallsyms_->usable()) {
    report_.add("kallsyms-hidden", Severity::info, "kallsyms holds no addresses (kernel.kptr_restrict)");
    kallsyms_.reset();
  }
  return kallsyms_.get();
}

}  // namespace profd::perf_data
