// Comma separated values as RFC 4180 has them, for everything that writes some: rows end in CR LF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/metric.h"

namespace profd {

// The shortest decimal that reads back as the same double, without an exponent; 0 for what is no number.
void append_decimal(std::string& out, double value);

class CsvText {
 public:
  // Quoted where it must be. "" is an empty cell.
  void text(std::string_view text);
  void number(std::int64_t value);
  void number(std::uint64_t value);
  void number(double value);
  void number(const Value& value) {
    std::visit([this](auto v) { number(v); }, value);
  }
  void end_row();

  // What was written since it was last taken.
  std::string take();

 private:
  void separate();

  std::string out_;
  bool first_ = true;
};

}  // namespace profd
