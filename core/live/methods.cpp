#include "core/live/methods.h"

#include <fmt/format.h>

#include "core/live/code_name.h"
#include "core/support/base_name.h"

namespace profd::live {
namespace {

std::string dotted(std::string_view a, std::string_view b) {
  if (a.empty()) return std::string(b);
  return fmt::format("{}.{}", a, b);
}

}  // namespace

StringId Methods::keep(std::string_view text) {
  if (text.empty()) return StringId{0u};
  if (n_bytes_ + text.size() > most_bytes_) {
    ++n_capped_;
    return StringId{0u};
  }
  const std::size_t before = texts_.size();
  const StringId id = texts_.intern(text);
  if (texts_.size() != before) n_bytes_ += text.size() + 16;
  return id;
}

void Methods::add(const std::vector<MethodEntry>& entries) {
  for (const MethodEntry& entry : entries) {
    if (entry.id == 0 || entry.id >= kMaxMethods) {
      ++n_capped_;
      continue;
    }
    const auto id = static_cast<MethodId>(entry.id);
    if (id >= rows_.size()) rows_.resize(id + 1);
    Method& row = rows_[id];
    if (row.told) continue;
    row.told = true;
    row.package = keep(entry.package);
    row.class_name = keep(entry.class_name);
    row.method = keep(entry.method);
    row.signature = keep(entry.signature);
    row.file = keep(entry.file);
    row.line = entry.line <= 0x7FFFFFFF ? static_cast<std::uint32_t>(entry.line) : 0;
    row.module = entry.module <= kMaxModules ? static_cast<std::uint32_t>(entry.module) : 0;
    row.address = entry.address;
    if (row.module != 0 && row.method != StringId{0u})
      row.symbol = row.signature != StringId{0u} ? row.signature : row.method;
    order_.push_back(id);
  }
}

void Methods::add(const ModuleInfo& module) {
  if (module.module == 0 || module.module > kMaxModules) {
    ++n_capped_;
    return;
  }
  if (module.module >= modules_.size()) modules_.resize(static_cast<std::size_t>(module.module) + 1);
  modules_[static_cast<std::size_t>(module.module)] = {keep(module.path), keep(module.build_id), module.base};
}

void Methods::set_demoted(MethodId method, bool demoted) {
  if (method >= rows_.size() || rows_[method].demoted == demoted) return;
  rows_[method].demoted = demoted;
  n_demoted_ += demoted ? 1 : std::size_t{0} - 1;
}

bool Methods::is_unnamed_code(MethodId method) const {
  if (method >= rows_.size()) return false;
  const Method& row = rows_[method];
  return row.told && row.method == StringId{0u} && row.module != 0 && row.module < modules_.size();
}

void Methods::name_code(MethodId method, const CodeFound& found) {
  if (!is_unnamed_code(method) || found.symbol.empty()) return;
  Method& row = rows_[method];
  const CodeName name = code_name_of(found.symbol, found.file, text(modules_[row.module].path));
  const StringId own = keep(name.method);
  if (own == StringId{0u}) return;  // no room for names: its address stays
  row.method = own;
  row.package = keep(name.package);
  row.class_name = keep(name.class_name);
  row.symbol = row.signature = keep(found.symbol);
  row.file = keep(found.file);
  row.line = found.line <= 0x7FFFFFFF ? found.line : 0;
}

std::string Methods::name(MethodId method) const {
  if (method < rows_.size() && rows_[method].symbol != StringId{0u})
    return std::string(text(rows_[method].symbol));
  if (method < rows_.size() && rows_[method].told) return dotted(text(rows_[method].package), label(method));
  if (method == kNotKnown) return "[events were lost]";
  if (method == kMoreContexts) return "[more calling contexts]";
  if (method == kMoreMethods) return "[more methods]";
  return fmt::format("[method {}]", method);
}

std::string Methods::label(MethodId method) const {
  if (method >= rows_.size() || !rows_[method].told) return name(method);
  const Method& row = rows_[method];
  std::string_view own = text(row.method);
  if (row.symbol != StringId{0u} && row.class_name != StringId{0u})
    return fmt::format("{}{}{}", text(row.class_name), kCodeSeparator, own);
  if (!own.empty()) return dotted(text(row.class_name), own);
  const std::string_view path = row.module < modules_.size() ? text(modules_[row.module].path) : "";
  return fmt::format("[{}+0x{:x}]", path.empty() ? "code" : base_name(path), row.address);
}

}  // namespace profd::live
