// The raw form: samples by address, the symbols of the VM and the map of the generated code.
#include <algorithm>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/text_number.h"
#include "formats/vm_profiler/samples.h"

namespace profd::vm_profiler {
namespace {

struct Symbol {
  std::uint64_t start = 0, limit = 0;
  std::string name, module;
};

// A method, trampoline or PIC of the code zone; it ends where the next begins.
struct Constituent {
  std::uint64_t start = 0;
  std::string name;
  bool is_mark = false;                                      // where the zone begins, its free part, its end
  std::vector<std::pair<std::uint64_t, std::uint64_t>> map;  // machine pc, bytecode pc; ascending
};

class RawReading {
 public:
  RawReading(JsonCursor in, ReadContext& context, ProfileBuilder& builder)
      : in_(std::move(in)), context_(context), builder_(builder), samples_(builder, false) {}

  Result<void> run() {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (key == "samples" && kind == JsonKind::array)
        samples();
      else if (key == "symbols" && kind == JsonKind::array)
        symbols();
      else if (key == "cog" && kind == JsonKind::array)
        constituents();
      else if (key == "seconds" && kind == JsonKind::number)
        seconds_ = in_.number().value;
      else if (key == "total" && kind == JsonKind::number)
        total_ = in_.integer();
      else if (key == "compactions" && kind == JsonKind::number)
        compactions_ = in_.integer();
      else
        in_.skip();
    }
    PROFD_CHECK(in_.finish());
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.start < b.start; });
    std::stable_sort(code_.begin(), code_.end(),
                     [](const Constituent& a, const Constituent& b) { return a.start < b.start; });
    PROFD_CHECK(attribute());
    return {};
  }

 private:
  // A number, or a text with one: "0xFF45".
  std::uint64_t address() {
    const std::uint64_t at = in_.offset();
    std::uint64_t out = 0;
    if (in_.kind() == JsonKind::string) {
      const std::string_view text = in_.string();
      const bool ok = text.starts_with("0x") ? parse_hex(text, out) : parse_uint(text, out);
      if (!ok) in_.fail_at(at, ErrorCode::malformed, "an address is no number");
      return out;
    }
    const std::int64_t number = in_.integer();
    if (number < 0) in_.fail_at(at, ErrorCode::malformed, "an address is negative");
    return static_cast<std::uint64_t>(number);
  }

  void samples() {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      const std::uint64_t at = in_.offset();
      std::pair<std::uint64_t, std::int64_t> sample{0, 1};
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "pc")
          sample.first = address();
        else if (key == "count")
          sample.second = in_.integer();
        else
          in_.skip();
      }
      if (sample.second < 0) in_.fail_at(at, ErrorCode::malformed, "a count is negative");
      counts_.push_back(sample);
    }
  }

  void symbols() {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      Symbol symbol;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "name" && in_.kind() == JsonKind::string)
          symbol.name = in_.string();
        else if (key == "start")
          symbol.start = address();
        else if (key == "limit")
          symbol.limit = address();
        else if (key == "module" && in_.kind() == JsonKind::string)
          symbol.module = in_.string();
        else
          in_.skip();
      }
      if (symbol.module.empty()) symbol.module = kVanilla;
      symbols_.push_back(std::move(symbol));
    }
  }

  void constituents() {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      Constituent code;
      std::string kind;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "name" && in_.kind() == JsonKind::string) {
          code.name = in_.string();
        } else if (key == "kind" && in_.kind() == JsonKind::string) {
          kind = in_.string();
        } else if (key == "start") {
          code.start = address();
        } else if (key == "map" && in_.kind() == JsonKind::array) {
          for (in_.begin_array(); in_.next_element();) {
            std::uint64_t pair[2] = {0, 0};
            std::size_t n = 0;
            const std::uint64_t at = in_.offset();
            for (in_.begin_array(); in_.next_element(); ++n) {
              const std::uint64_t number = address();
              if (n < 2) pair[n] = number;
            }
            if (n != 2) in_.fail_at(at, ErrorCode::malformed, "an entry of a map is no pair");
            if (!code.map.empty() && pair[0] < code.map.back().first)
              in_.fail_at(at, ErrorCode::malformed, "the machine pcs of a map do not ascend");
            code.map.emplace_back(pair[0], pair[1]);
          }
        } else {
          in_.skip();
        }
      }
      code.is_mark =
          kind == "mark" || code.name == "CogCode" || code.name == "CCFree" || code.name == "CCEnd";
      code_.push_back(std::move(code));
    }
  }

  Result<void> attribute() {
    std::int64_t n_outside = 0;
    for (const auto& [pc, count] : counts_) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (count == 0) continue;
      if (in_code(pc, count) || in_symbol(pc, count)) continue;
      if (__builtin_add_overflow(n_outside, count, &n_outside)) n_outside = INT64_MAX;
    }
    if (n_outside > 0) samples_.add("", "(outside the VM)", n_outside);
    if (total_ > samples_.total()) {
      samples_.add("", "(outside the VM)", total_ - samples_.total());
    } else if (total_ >= 0 && total_ < samples_.total()) {
      context_.report.add(
          "total-differs", Severity::loss,
          fmt::format("The file says {} samples in total and has {}.", total_, samples_.total()));
    }
    if (compactions_ > 0)
      context_.report.add(
          "code-moved", Severity::info,
          "Generated code was moved while it was sampled; only its last place is known, so samples of "
          "moved methods may stand with others.",
          std::nullopt, static_cast<std::uint64_t>(compactions_));
    if (seconds_ > 0 && seconds_ < 9e9)
      builder_.info().duration_ns = static_cast<std::int64_t>(seconds_ * 1e9);
    return {};
  }

  bool in_code(std::uint64_t pc, std::int64_t count) {
    auto next = std::upper_bound(code_.begin(), code_.end(), pc,
                                 [](std::uint64_t at, const Constituent& c) { return at < c.start; });
    if (next == code_.begin() || next == code_.end())
      return false;  // before the zone, or behind its end mark
    const Constituent& code = *(next - 1);
    if (code.is_mark) return false;
    if (code.map.empty()) {
      samples_.add(kGenerated, code.name, count);
      return true;
    }
    // Machine code before the first mapped pc stands for the bytecodes from 1 to that pc's, and so on.
    const auto after = std::upper_bound(code.map.begin(), code.map.end(), pc,
                                        [](std::uint64_t at, const auto& entry) { return at < entry.first; });
    const Range range{after == code.map.begin() ? 1 : (after - 1)->second,
                      after == code.map.end() ? 0 : after->second};
    samples_.add(kGenerated, code.name, count, &range);
    return true;
  }

  bool in_symbol(std::uint64_t pc, std::int64_t count) {
    auto next = std::upper_bound(symbols_.begin(), symbols_.end(), pc,
                                 [](std::uint64_t at, const Symbol& s) { return at < s.start; });
    if (next == symbols_.begin()) return false;
    const Symbol& symbol = *(next - 1);
    if (pc >= symbol.limit) return false;
    samples_.add(symbol.module,
                 symbol.name.empty() ? std::string_view("(unnamed)") : std::string_view(symbol.name), count);
    return true;
  }

  JsonCursor in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Samples samples_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> counts_;
  std::vector<Symbol> symbols_;
  std::vector<Constituent> code_;
  double seconds_ = 0;
  std::int64_t total_ = -1, compactions_ = 0;
};

}  // namespace

Result<void> read_raw(std::string_view json, std::uint64_t base, ReadContext& context,
                      ProfileBuilder& builder) {
  return RawReading(JsonCursor(json, context.limits.nesting, base), context, builder).run();
}

}  // namespace profd::vm_profiler
