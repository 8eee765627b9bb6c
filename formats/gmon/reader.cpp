// gmon.out, what programs built with -pg write. docs/formats/gmon.md.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "formats/gmon/records.h"
#include "formats/support/cost_graph.h"
#include "formats/support/program_symbols.h"

namespace profd {
namespace {

using namespace gmon;
using program::Symbols;

constexpr std::array<std::string_view, 2> kExtensions{".gmon", ".gmon.out"};
constexpr ReaderNotes kNotes{
    .versions = "version 1, either byte order, 32 and 64 bits; not the BSD form without a magic number",
    .keeps =
        "time by function and address, calls by caller, basic blocks; names from nm's list or the program "
        "beside it",
    .recording = "gcc -pg -o app app.c && ./app",
    .verified =
        "GNU gprof 2.40's report of the same file: time and calls of every function, bins on odd borders",
};

// What gprof counts addresses in, whatever the machine.
constexpr std::uint64_t kUnit = 2, kLastUnit = ~std::uint64_t{0} / kUnit - 1;

class Reading {
 public:
  Reading(const Records& records, const Symbols& symbols, ReadContext& context, ProfileBuilder& builder)
      : r_(records),
        symbols_(symbols),
        context_(context),
        builder_(builder),
        functions_(symbols.all().size()) {
    const std::string program = builder.info().program;
    if (!program.empty()) module_ = builder.module({.name = program, .addresses = AddressKind::vaddr});
  }

  Result<void> run() {
    const std::string dimension = r_.histograms.empty() ? "seconds" : r_.histograms.front().dimension;
    seconds_ = dimension == "seconds";
    std::vector<CostGraph::Event> events{seconds_ ? CostGraph::Event{"time", "nanoseconds"}
                                                  : CostGraph::Event{dimension, "count"}};
    if (!r_.blocks.empty()) events.push_back({"block executions", "count"});
    row_.resize(events.size());
    graph_.emplace(builder_, std::move(events), CostGraph::Options{.inclusive = false});
    std::uint64_t n_samples = 0;
    for (const Histogram& h : r_.histograms) {
      if (h.dimension != dimension) {
        context_.report.add("other-dimension", Severity::loss,
                            "histograms of another dimension than the first were not read");
        continue;
      }
      PROFD_CHECK(context_.stop.status());
      PROFD_TRY(const std::uint64_t n, add_histogram(h));
      n_samples += n;
    }
    for (const Arc& arc : r_.arcs) add_arc(arc);
    for (const Block& block : r_.blocks) {
      std::fill(row_.begin(), row_.end(), 0);
      row_.back() = static_cast<std::int64_t>(std::min<std::uint64_t>(block.count, INT64_MAX));
      graph_->add_self(node(block.address), row_);
    }
    PROFD_CHECK(graph_->finish(context_.report));
    builder_.set_n_samples(n_samples);
    context_.report.add(
        "no-symbols", Severity::loss,
        "the file names no functions, no program or nm list lies beside it, and --binary names "
        "none: code is shown by address",
        std::nullopt, symbols_.empty() ? 1 : 0);
    return {};
  }

 private:
  CostGraph::Node node(std::uint64_t address, bool is_return = false) {
    const std::size_t row = symbols_.find(address);
    FunctionId* known = row == Symbols::kNowhere ? &unknown_ : &functions_[row];
    if (!known->valid()) {
      FunctionSpec spec;
      spec.name = builder_.string(row == Symbols::kNowhere ? "[unknown]" : symbols_.all()[row].name);
      spec.unresolved = row == Symbols::kNowhere;
      *known = builder_.function(spec);
    }
    return {*known, module_,
            builder_.frame({.function = *known,
                            .module = module_,
                            .address = address,
                            .is_return = is_return && address != 0})};
  }

  // A bin covers (high - low) / n bytes, which is no whole number. As gprof does it, bins and functions begin
  // at whole units of two bytes; a bin's samples are shared by the functions it overlaps, in nanoseconds that
  // sum to all of it.
  Result<std::uint64_t> add_histogram(const Histogram& h) {
    const std::size_t n = h.bins.size();
    const double width = static_cast<double>(h.high - h.low) / static_cast<double>(n);
    if (!info_set_) {
      info_set_ = true;
      ProfileInfo& info = builder_.info();
      if (seconds_) {
        info.period = std::llround(1e9 / h.rate);
        info.period_type = "time";
        info.period_unit = "nanoseconds";
      }
      info.properties.emplace_back("histogram_rate", fmt::format("{}", h.rate));
      info.properties.emplace_back("histogram_bin_bytes", fmt::format("{}", width));
    }
    const double scale = static_cast<double>((h.high - h.low) / kUnit) / static_cast<double>(n);
    const auto unit_of_bin = [&](std::size_t i) {
      return std::min(h.low / kUnit + static_cast<std::uint64_t>(scale * static_cast<double>(i)), kLastUnit);
    };
    std::uint64_t n_samples = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (h.bins[i] == 0) continue;
      n_samples += h.bins[i];
      const std::uint64_t begin = unit_of_bin(i), end = std::max(unit_of_bin(i + 1), begin + 1);
      const std::int64_t whole = seconds_ ? std::llround(static_cast<double>(h.bins[i]) * 1e9 / h.rate)
                                          : static_cast<std::int64_t>(h.bins[i]);
      share(begin, end, whole);
    }
    return n_samples;
  }

  void share(std::uint64_t begin, std::uint64_t end, std::int64_t whole) {
    std::int64_t left = whole;
    for (std::uint64_t at = begin; left > 0;) {
      // The last symbol that begins in the unit or before it.
      const std::size_t row = symbols_.find(at * kUnit + (kUnit - 1));
      const bool nowhere = row == Symbols::kNowhere;
      const std::uint64_t next = (!nowhere           ? symbols_.end_of(row)
                                  : symbols_.empty() ? ~std::uint64_t{0}
                                                     : symbols_.all().front().address) /
                                 kUnit;
      const bool last = next >= end;
      const double part = static_cast<double>(next - at) / static_cast<double>(end - begin);
      const std::int64_t value =
          last ? left : std::min<std::int64_t>(left, std::llround(static_cast<double>(whole) * part));
      std::fill(row_.begin(), row_.end(), 0);
      row_.front() = value;
      const std::uint64_t address = nowhere ? at * kUnit : std::max(at * kUnit, symbols_.all()[row].address);
      if (value > 0) graph_->add_self(node(address), row_);
      left -= value;
      if (last) break;
      at = next;
    }
  }

  void add_arc(const Arc& arc) {
    // What a caller outside all functions calls was entered by nobody knows whom.
    if (arc.from == 0 || (!symbols_.empty() && symbols_.find(arc.from) == Symbols::kNowhere))
      graph_->add_entries(node(arc.to), arc.count);
    else
      graph_->add_call(node(arc.from, true), node(arc.to), arc.count, {});
  }

  const Records& r_;
  const Symbols& symbols_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::optional<CostGraph> graph_;
  ModuleId module_;                    // the program, whose symbol table has these addresses
  std::vector<FunctionId> functions_;  // by row of symbols_
  FunctionId unknown_;
  std::vector<std::int64_t> row_;
  bool seconds_ = true, info_set_ = false;
};

class GmonReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"gmon", "gmon.out", kExtensions, 51, "programs built with -pg", 3, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return is_gmon(prefix) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const Records records, read_records(source.bytes(), context));
    if (records.histograms.empty() && records.arcs.empty() && records.blocks.empty())
      return fail(ErrorCode::malformed, "the file has a header and no record");
    ProfileBuilder& builder = profiles.emplace_back();
    const Symbols symbols = context.program != nullptr
                                ? program::symbols_of(context.program->bytes())
                                : program::symbols_beside(context.beside, context, builder.info().program);
    return Reading(records, symbols, context, builder).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_gmon_reader() {
  return std::make_unique<GmonReader>();
}

}  // namespace profd
