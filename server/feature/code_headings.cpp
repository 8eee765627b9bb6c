#include "server/feature/code_headings.h"

#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/support/base_name.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"

namespace profd {
namespace {

// Of a heading. Chains of real programs are shorter; what is left out of longer ones is their middle.
constexpr std::size_t kMaxHeadingBytes = 1000;

// Many rows are of few calls and functions, so what these are called is written once.
class HeadingTexts {
 public:
  HeadingTexts(const InlinedCalls& calls, const std::vector<std::string>& files) {
    for (const std::string& file : files) files_.push_back(sanitize_text(base_name(file)));
    std::unordered_map<std::string_view, std::string> short_names;
    for (std::size_t call = 0; call < calls.function.size(); ++call) {
      const auto [known, is_new] = short_names.try_emplace(calls.function[call]);
      if (is_new) known->second = sanitize_text(short_name(calls.function[call]));
      Call& of = calls_.emplace_back();
      of.name = known->second;
      std::string place = place_text(calls.file[call], calls.line[call]);
      const std::int64_t parent = calls.parent[call];
      if (parent < 0) {
        of.outermost = std::move(place);
        continue;
      }
      const Call& outer = calls_[static_cast<std::size_t>(parent)];
      of.behind = outer.name + ' ' + place + " > " + outer.behind;
      if (of.behind.size() >= kMaxHeadingBytes) of.behind = cut_to_width(of.behind, kMaxHeadingBytes);
      of.outermost = outer.outermost;
    }
  }

  // Of a row: its place, and the innermost call that it is in, or -1.
  [[nodiscard]] std::string of_row(std::int64_t file, std::uint32_t line, std::int64_t call) const {
    std::string place = place_text(file, line);
    if (call < 0) return place;
    const Call& of = calls_[static_cast<std::size_t>(call)];
    std::string text = of.name + ' ' + place + " > " + of.behind;
    if (text.size() >= kMaxHeadingBytes) text = cut_to_width(text, kMaxHeadingBytes) + " > ";
    return text + of.outermost;
  }

 private:
  struct Call {
    std::string name;
    std::string behind;     // what stands behind the place in it: "mix a.cc:6 > ", outwards
    std::string outermost;  // the place that the chain ends with
  };

  [[nodiscard]] std::string place_text(std::int64_t file, std::uint32_t line) const {
    if (file < 0) return "?";
    return files_[static_cast<std::size_t>(file)] + ':' + (line == 0 ? "?" : std::to_string(line));
  }

  std::vector<std::string> files_;
  std::vector<Call> calls_;
};

}  // namespace

CodeHeadings code_headings(const InstructionColumns& rows, const InlinedCalls& calls,
                           const std::vector<std::string>& files) {
  CodeHeadings out;
  const HeadingTexts texts(calls, files);
  const std::size_t n = rows.text.size();
  const auto of_row = [&](std::size_t row) {
    return std::tuple(rows.file[row], rows.line[row], rows.inlined[row]);
  };
  bool any = false;
  for (std::size_t row = 0; row < n; ++row) {
    any = any || rows.file[row] >= 0 || rows.inlined[row] >= 0;
    if (row > 0 && of_row(row) == of_row(row - 1)) {
      ++out.count.back();
      continue;
    }
    out.first.push_back(static_cast<std::uint32_t>(row));
    out.count.push_back(1);
    out.text.push_back(texts.of_row(rows.file[row], rows.line[row], rows.inlined[row]));
  }
  return any ? out : CodeHeadings();
}

}  // namespace profd
