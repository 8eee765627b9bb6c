// ImportReport: named counters of everything odd, lost or guessed while a file was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

enum class Severity : std::uint8_t { info, loss, error };
std::string_view to_string(Severity severity);

struct ReportRow {
  std::string kind;  // stable id: "malformed-line"
  Severity severity = Severity::info;
  std::uint64_t count = 0;
  std::optional<std::uint64_t> first_offset;
  std::string message;  // a sentence for the user, made at the first occurrence
};

class ImportReport {
 public:
  void add(std::string_view kind, Severity severity, std::string_view message,
           std::optional<std::uint64_t> offset = std::nullopt, std::uint64_t count = 1);
  const std::vector<ReportRow>& rows() const { return rows_; }
  bool has_losses() const;

 private:
  std::vector<ReportRow> rows_;
};

}  // namespace profd
