#include "formats/jfr/pools.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/id.h"

namespace profd::jfr {
namespace {

constexpr std::uint64_t kMaxTextFactor = 64;

}  // namespace

Result<Pools> Pools::index(const Chunk& chunk, const Metadata& metadata, const Layouts& layouts,
                           StopToken& stop) {
  Pools out;
  out.bytes_ = chunk.bytes;
  out.base_ = chunk.at;
  out.layouts_ = &layouts;
  out.text_budget_ = chunk.bytes.size() * kMaxTextFactor + (16u << 20);
  out.tables_.resize(metadata.classes().size());
  out.string_class_ = metadata.index_of("java.lang.String");
  // The newest checkpoint first, as the virtual machine's own parser goes: the first value of a key counts.
  for (std::size_t i = chunk.checkpoints.size(); i-- > 0;) {
    PROFD_CHECK(stop.status());
    Record record;
    if (!read_record(chunk, chunk.checkpoints[i], record)) break;
    Wire& in = record.body;
    const std::size_t body = static_cast<std::size_t>(in.offset() - chunk.at);
    in.varint(), in.varint(), in.varint();  // start, duration, distance to the one before
    in.byte();
    const std::uint64_t n_pools = in.varint();
    for (std::uint64_t p = 0; p < n_pools && in.ok(); ++p) {
      const std::uint32_t cls = metadata.index_of(in.varint());
      const std::uint64_t n = in.varint();
      if (!in.ok() || cls == kNone || n > in.left())
        return fail(ErrorCode::malformed, "a constant pool has no type or more values than bytes",
                    in.offset());
      std::vector<Entry>& table = out.tables_[cls];
      for (std::uint64_t e = 0; e < n && in.ok(); ++e) {
        const std::uint64_t key = in.varint();
        table.push_back({key, body + in.position()});
        layouts.skip(in, cls);
      }
    }
    if (!in.ok()) return fail(ErrorCode::malformed, "the constant pools end early", in.offset());
  }
  for (std::vector<Entry>& table : out.tables_) {
    const auto less = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(table.begin(), table.end(), less)) std::stable_sort(table.begin(), table.end(), less);
    table.erase(std::unique(table.begin(), table.end(),
                            [](const Entry& a, const Entry& b) { return a.key == b.key; }),
                table.end());
  }
  return out;
}

std::uint32_t Pools::row(std::uint32_t cls, std::uint64_t key) const {
  if (cls >= tables_.size()) return kNone;
  const std::vector<Entry>& table = tables_[cls];
  // Most profilers number from 0 or 1 without gaps.
  for (const std::uint64_t guess : {key, key - 1})
    if (guess < table.size() && table[static_cast<std::size_t>(guess)].key == key)
      return static_cast<std::uint32_t>(guess);
  const auto found = std::lower_bound(table.begin(), table.end(), key,
                                      [](const Entry& e, std::uint64_t k) { return e.key < k; });
  return found == table.end() || found->key != key ? kNone
                                                   : static_cast<std::uint32_t>(found - table.begin());
}

Wire Pools::value(std::uint32_t cls, std::uint32_t row) const {
  const std::uint64_t at = tables_[cls][row].at;
  return {bytes_.subspan(static_cast<std::size_t>(at)), base_ + at};
}

Text Pools::first_text(std::uint32_t cls, std::uint64_t key) const {
  const std::uint32_t at = row(cls, key);
  if (at == kNone || layouts_->of(cls).empty()) return {};
  const Step step = layouts_->of(cls).front();
  if (step.op != Op::text) return {};
  Wire in = value(cls, at);
  return in.text();
}

std::string Pools::text(const Text& text) const {
  const Text found = text.code == Text::Code::pooled ? first_text(string_class_, text.key) : text;
  std::string out;
  if (found.bytes.size() > text_budget_) {
    over_budget_ = true;
    return out;
  }
  text_budget_ -= found.bytes.size();
  append_text(found, out);
  return out;
}

Result<void> Pools::status() const {
  if (!over_budget_) return {};
  return fail(
      ErrorCode::limit,
      fmt::format("the texts of a chunk are used too often (limit {} times the chunk)", kMaxTextFactor),
      base_);
}

std::string Pools::text(std::uint32_t cls, std::uint64_t key) const {
  return text(first_text(cls, key));
}

}  // namespace profd::jfr
