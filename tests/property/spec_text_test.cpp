// Any view can be written down and read back.
#include "core/view/spec.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string random_text(Rng& rng) {
  static constexpr std::string_view kPieces[] = {"a",
                                                 "by",
                                                 "of",
                                                 ">",
                                                 "=",
                                                 "|",
                                                 "/",
                                                 "\\",
                                                 "\"",
                                                 "~",
                                                 " ",
                                                 "\n",
                                                 "\t",
                                                 "..",
                                                 "10ms",
                                                 "keep",
                                                 "(",
                                                 "\x01",
                                                 "\x7f",
                                                 "é",
                                                 "\\/",
                                                 "http.(*conn).serve",
                                                 "std::vector<int>",
                                                 "operator||",
                                                 "<",
                                                 "operator<",
                                                 "lists::Bag<int, std::less<int> >::reduce"};
  std::string out;
  for (std::size_t n = below(rng, 5); n > 0; --n) out += kPieces[below(rng, std::size(kPieces))];
  return out;
}

std::int64_t random_instant(Rng& rng) {
  const auto n = static_cast<std::int64_t>(rng());
  switch (below(rng, 4)) {
    case 0:
      return n % (kMaxInstant + 1);
    case 1:
      return n % 1000 * 1'000'000'000;
    case 2:
      return n % 1000 * 1'000'000;
    default:
      return n % 1000;
  }
}

ViewSpec any_spec(Rng& rng) {
  ViewSpec spec;
  spec.shape = static_cast<Shape>(below(rng, 5));
  spec.granularity = static_cast<Granularity>(below(rng, 5));
  if (chance(rng, 0.3)) spec.metric = random_text(rng);
  for (std::size_t n = below(rng, 4); n > 0; --n) spec.focus.push_back(random_text(rng));
  for (std::size_t n = below(rng, 4); n > 0; --n) {
    Filter filter;
    filter.op = static_cast<FilterOp>(below(rng, 4));
    filter.by = static_cast<FilterBy>(below(rng, 14));
    if (filter.by == FilterBy::mine || filter.by == FilterBy::recursion) {
      filter.op = FilterOp::collapse;
    } else if (filter.by == FilterBy::time) {
      if (chance(rng, 0.7)) filter.from_ns = random_instant(rng);
      if (chance(rng, 0.7)) filter.to_ns = random_instant(rng);
      if (chance(rng, 0.3)) filter.every_ns = random_instant(rng);
    } else if (filter.by == FilterBy::fragment || filter.by == FilterBy::path) {
      for (std::size_t k = 1 + below(rng, 3); k > 0; --k) filter.names.push_back(random_text(rng));
    } else if (filter.by == FilterBy::work) {
      filter.op = chance(rng, 0.5) ? FilterOp::keep : FilterOp::drop;
      filter.pattern = random_text(rng);
    } else {
      filter.pattern = random_text(rng);
      filter.regex = chance(rng, 0.5);
      if (filter.by == FilterBy::label) filter.key = random_text(rng);
    }
    if (may_be_linked(filter.by) && chance(rng, 0.2)) filter.linked = random_text(rng);
    spec.filters.push_back(std::move(filter));
  }
  return spec;
}

}  // namespace

TEST_CASE("law: a view read back from its text is the view") {
  for (std::uint64_t seed = 1; seed <= n_cases() * 5; ++seed) {
    Rng rng(seed);
    const ViewSpec spec = any_spec(rng);
    const std::string text = to_text(spec);
    const auto read = parse_view_spec(text);
    if (read && *read == spec && to_text(*read) == text) continue;
    FAIL("seed " << seed << ": " << text << "\n" << (read ? to_text(*read) : describe(read.error())));
  }
}

TEST_CASE("law: no text breaks the parser, and what it takes has a canonical text") {
  for (std::uint64_t seed = 1; seed <= n_cases() * 5; ++seed) {
    Rng rng(seed);
    std::string text = to_text(any_spec(rng));
    for (std::size_t n = 1 + below(rng, 3); n > 0 && !text.empty(); --n) {
      const std::size_t at = below(rng, text.size());
      if (chance(rng, 0.5))
        text.erase(at, 1 + below(rng, 4));
      else
        text.insert(at, random_text(rng));
    }
    const auto read = parse_view_spec(text);
    if (!read) {
      if (read.error().offset.value_or(0) > text.size())
        FAIL("seed " << seed << ": offset past the end of " << text);
      continue;
    }
    const auto again = parse_view_spec(to_text(*read));
    if (!again || !(*again == *read)) FAIL("seed " << seed << ": " << text);
  }
}
