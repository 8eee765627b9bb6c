#include "core/view/measure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/support/text.h"
#include "core/view/name_scan.h"

namespace profd {
namespace {

using Op = MeasureStep::Op;

bool starts_name(char c) {
  return is_lower(c) || is_upper(c) || c == '_';
}
bool in_name(char c) {
  return starts_name(c) || is_digit(c) || c == '.' || c == ':';
}

// What has been read so far of a part of the formula.
struct Operand {
  enum class Kind : std::uint8_t { constant, linear, other };
  Kind kind = Kind::constant;
  std::vector<UnitPower> unit;
};

std::vector<UnitPower> product(std::vector<UnitPower> a, const std::vector<UnitPower>& b, int sign) {
  for (const UnitPower& one : b) {
    const auto at =
        std::lower_bound(a.begin(), a.end(), one.unit,
                         [](const UnitPower& x, const std::string& unit) { return x.unit < unit; });
    if (at == a.end() || at->unit != one.unit)
      a.insert(at, {one.unit, sign * one.power});
    else if ((at->power += sign * one.power) == 0)
      a.erase(at);
  }
  return a;
}

// Precedence by a stack of operators: nesting takes no recursion.
class Parser {
 public:
  // Null: every name is one of a metric, and no unit is known.
  Parser(std::string_view text, const std::span<const MetricInfo>* metrics)
      : text_(text), metrics_(metrics) {}

  Result<Measure> run() && {
    if (text_.size() > kMaxFormula)
      return fail(ErrorCode::limit,
                  fmt::format("a formula ends at character {} at the latest; this one has {}", kMaxFormula,
                              text_.size()),
                  kMaxFormula);
    bool wants_operand = true;
    for (skip_spaces(); at_ < text_.size(); skip_spaces()) {
      const char c = text_[at_];
      if (wants_operand) {
        if (c == '(' || c == '-') {
          pending_.push_back({c == '(' ? '(' : 'n', at_++});
          continue;
        }
        PROFD_CHECK(operand());
        wants_operand = false;
      } else if (c == ')') {
        PROFD_CHECK(close());
        ++at_;
      } else if (c == '+' || c == '-' || c == '*' || c == '/') {
        PROFD_CHECK(reduce(rank(c)));
        pending_.push_back({c, at_++});
        wants_operand = true;
      } else {
        return wrong(at_, "one of + - * / is expected");
      }
    }
    if (wants_operand) return wrong(at_, "a metric or a number is expected");
    PROFD_CHECK(reduce(0));
    if (!pending_.empty()) return wrong(pending_.back().at, "the bracket is not closed");
    out_.unit = std::move(operands_[0].unit);
    out_.additive = operands_[0].kind == Operand::Kind::linear;
    return std::move(out_);
  }

 private:
  struct Pending {
    char op = '(';  // n: negate
    std::size_t at = 0;
  };

  static int rank(char op) { return op == '(' ? -1 : op == '+' || op == '-' ? 1 : op == 'n' ? 3 : 2; }
  [[nodiscard]] tl::unexpected<Error> wrong(std::size_t at, std::string_view what) const {
    return fail(ErrorCode::invalid, fmt::format("{} at character {} of the formula", what, at + 1), at);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  Result<void> operand() {
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    const std::size_t begin = at_;
    std::string name;
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        name += text_[at_];
      }
      if (at_ >= text_.size()) return wrong(begin, "the quote is not closed");
      ++at_;
    } else if (starts_name(c)) {
      while (at_ < text_.size() && in_name(text_[at_])) name += text_[at_++];
    } else {
      return wrong(at_, "a metric or a number is expected");
    }
    std::vector<UnitPower> unit;
    if (metrics_ != nullptr) {
      const auto metric = std::find_if(metrics_->begin(), metrics_->end(),
                                       [&](const MetricInfo& one) { return one.name == name; });
      if (metric == metrics_->end()) return unknown(begin, name, c == '"');
      if (!metric->unit.empty()) unit.push_back({metric->unit, 1});
    }
    const auto known = std::find(out_.metrics.begin(), out_.metrics.end(), name);
    out_.steps.push_back({Op::column, static_cast<std::uint32_t>(known - out_.metrics.begin()), 0});
    if (known == out_.metrics.end()) out_.metrics.push_back(std::move(name));
    operands_.push_back({Operand::Kind::linear, std::move(unit)});
    return {};
  }

  // With what was perhaps meant, and what there is, each as it can be typed.
  [[nodiscard]] tl::unexpected<Error> unknown(std::size_t at, const std::string& name, bool quoted) const {
    constexpr std::size_t kMaxNamed = 20, kMaxShown = 100;
    std::vector<std::string_view> names;
    for (const MetricInfo& metric : *metrics_) names.push_back(metric.name);
    std::string more = did_you_mean(name, names);
    for (std::size_t m = 0; m < std::min(names.size(), kMaxNamed); ++m)
      more += (m == 0 ? "; there is " : ", ") + name_in_formula(names[m]);
    if (names.size() > kMaxNamed) more += fmt::format(" and {} more", names.size() - kMaxNamed);
    // cache-misses without quotes is a difference.
    const bool is_cut = std::any_of(names.begin(), names.end(), [&](std::string_view known) {
      return known.size() > name.size() && known.starts_with(name) && !in_name(known[name.size()]);
    });
    if (!quoted && is_cut) more += "; names with other signs stand in quotes";
    auto error = wrong(at, "there is no metric " + cut_bytes(name, kMaxShown));
    error.value().message += more;
    return error;
  }

  Result<void> number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return wrong(at_, "the number cannot be read");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && in_name(text_[at_])) return wrong(at_, "one of + - * / is expected");
    out_.steps.push_back({Op::number, 0, value});
    operands_.push_back({Operand::Kind::constant, {}});
    return {};
  }

  Result<void> close() {
    PROFD_CHECK(reduce(0));
    if (pending_.empty()) return wrong(at_, "the bracket was not opened");
    pending_.pop_back();
    return {};
  }

  // Does what waits and comes before an operator of `least`.
  Result<void> reduce(int least) {
    while (!pending_.empty() && rank(pending_.back().op) >= least) {
      const Pending done = pending_.back();
      pending_.pop_back();
      PROFD_CHECK(apply(done));
    }
    return {};
  }

  Result<void> apply(const Pending& done) {
    if (done.op == 'n') {
      out_.steps.push_back({Op::negate, 0, 0});
      return {};
    }
    const Operand b = std::move(operands_.back());
    operands_.pop_back();
    Operand& a = operands_.back();
    using Kind = Operand::Kind;
    if (done.op == '+' || done.op == '-') {
      if (a.unit != b.unit)
        return wrong(done.at, fmt::format("{} and {} are of two units and have no {}", unit_or_number(a.unit),
                                          unit_or_number(b.unit), done.op == '+' ? "sum" : "difference"));
      a.kind = a.kind == b.kind ? a.kind : Kind::other;
    } else {
      a.unit = product(std::move(a.unit), b.unit, done.op == '*' ? 1 : -1);
      const bool scaled = b.kind == Kind::constant || (done.op == '*' && a.kind == Kind::constant);
      a.kind = !scaled ? Kind::other : a.kind == Kind::constant ? b.kind : a.kind;
    }
    out_.steps.push_back({done.op == '+'   ? Op::add
                          : done.op == '-' ? Op::subtract
                          : done.op == '*' ? Op::multiply
                                           : Op::divide,
                          0, 0});
    return {};
  }

  static std::string unit_or_number(const std::vector<UnitPower>& unit) {
    return unit.empty() ? "a plain number" : unit_text(unit);
  }

  std::string_view text_;
  const std::span<const MetricInfo>* metrics_;
  std::size_t at_ = 0;
  Measure out_;
  std::vector<Operand> operands_;
  std::vector<Pending> pending_;
};

std::string product_text(const std::vector<UnitPower>& unit, int sign) {
  std::string out;
  for (const UnitPower& one : unit) {
    const int power = sign * one.power;
    if (power <= 0) continue;
    out += (out.empty() ? "" : " ") + one.unit;
    if (power > 1) out += fmt::format("^{}", power);
  }
  return out;
}

}  // namespace

Result<Measure> parse_measure(std::string_view formula, std::span<const MetricInfo> metrics) {
  return Parser(formula, &metrics).run();
}

Result<void> check_formula(std::string_view formula) {
  PROFD_CHECK(Parser(formula, nullptr).run());
  return {};
}

bool adds_up(std::string_view formula) {
  const Result<Measure> measure = Parser(formula, nullptr).run();
  return measure && measure->additive;
}

std::string name_in_formula(std::string_view name) {
  if (!name.empty() && starts_name(name.front()) && std::all_of(name.begin(), name.end(), in_name))
    return std::string(name);
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::optional<double> value_of(const Measure& measure, std::span<const std::optional<double>> columns) {
  std::vector<double> stack;
  for (const MeasureStep& step : measure.steps) {
    if (step.op == Op::column) {
      if (!columns[step.column]) return std::nullopt;
      stack.push_back(*columns[step.column]);
      continue;
    }
    if (step.op == Op::number) {
      stack.push_back(step.number);
      continue;
    }
    if (step.op == Op::negate) {
      stack.back() = -stack.back();
      continue;
    }
    const double b = stack.back();
    stack.pop_back();
    double& a = stack.back();
    switch (step.op) {
      case Op::add:
        a += b;
        break;
      case Op::subtract:
        a -= b;
        break;
      case Op::multiply:
        a *= b;
        break;
      default:
        if (b == 0) return std::nullopt;
        a /= b;
    }
  }
  if (stack.size() != 1 || !std::isfinite(stack[0])) return std::nullopt;
  return stack[0];
}

std::string unit_text(const std::vector<UnitPower>& unit) {
  const std::string over = product_text(unit, 1), under = product_text(unit, -1);
  if (under.empty()) return over;
  return (over.empty() ? "1" : over) + " / " + under;
}

}  // namespace profd
