// The laws of core/model/symbolize.h on random profiles and random symbols, against brute force.
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "core/model/profile_builder.h"
#include "core/model/symbolize.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::uint64_t kBase = 0x1000;  // addresses are from here to 24 behind it
constexpr std::uint64_t kShift = 0x200;  // of file offsets to vaddrs

// Few addresses and functions, so that one address is leaf and return, and stacks recurse.
class RandomRecording {
 public:
  explicit RandomRecording(std::uint64_t seed) : rng_(seed) {}

  ProfilePtr make() {
    b_.add_metric("cpu", "nanoseconds");
    b_.add_metric("share", "count", true);
    make_frames();
    const bool timed = chance(rng_, 0.5), samples = chance(rng_, 0.7);
    const std::vector<ThreadId> threads{b_.thread({.name = "a", .tid = 1}),
                                        b_.thread({.name = "b", .tid = 2})};
    const Label label{.key = b_.string("k"), .text = b_.string("v")};
    const LabelSetId labels = b_.label_set({&label, 1});
    std::vector<ContextId> contexts;
    for (std::size_t n = 1 + below(rng_, 40); n > 0; --n) {
      ContextId at = kRootContext;
      for (std::size_t depth = below(rng_, 9); depth > 0; --depth)
        at = b_.context(at, frames_[below(rng_, frames_.size())]);
      contexts.push_back(at);
      const auto value = static_cast<std::int64_t>(below(rng_, 1000)) - 100;
      const Value values[] = {value, static_cast<double>(value) / 4};
      if (!samples) {
        b_.add_self(at, MetricId{0u}, value);
        b_.add_self(at, MetricId{1u}, static_cast<double>(value) / 4);
        continue;
      }
      SampleContext where{.thread = threads[below(rng_, 2)]};
      if (chance(rng_, 0.5)) where.labels = labels;
      if (timed) where.time = static_cast<std::int64_t>(n);
      b_.add_sample(at, std::span<const Value>(values), where);
    }
    AssociationTable records{.name = "reuse", .roles = {"use"}, .contexts = {}, .metrics = {}, .values = {}};
    std::vector<std::uint32_t> of;
    for (const ContextId context : contexts) of.push_back(context.v);
    records.contexts.emplace_back(std::move(of));
    b_.add_association(std::move(records));
    return std::move(b_).finish().value();
  }

 private:
  void make_frames() {
    const ModuleId modules[] = {
        b_.module({.name = "app", .build_id = "aa", .start = 0x7000, .limit = 0x9000, .offset = 0xf00}),
        b_.module({.name = "app", .build_id = "aa", .start = 0x17000, .limit = 0x19000, .offset = 0xf00}),
        b_.module({.name = "lib", .build_id = "bb", .addresses = AddressKind::vaddr}),
        b_.module({.name = "odd"}),
        {}};
    for (int n = 0; n < 40; ++n) {
      FrameSpec spec;
      spec.module = modules[below(rng_, 5)];
      FunctionSpec function;
      const std::size_t which = below(rng_, 4);
      function.unresolved = which == 0 || chance(rng_, 0.5);
      function.name = b_.string(function.unresolved ? "[?]" : fmt::format("known{}", which));
      if (which == 1) function.file = b_.string("known.cc");
      spec.function = b_.function(function);
      if (!function.unresolved && chance(rng_, 0.4)) spec.line = 7;
      spec.address = chance(rng_, 0.1) ? 0 : kBase + 1 + below(rng_, 24);
      spec.is_return = spec.address != 0 && chance(rng_, 0.5);
      spec.inlined = chance(rng_, 0.1);
      frames_.push_back(b_.frame(spec));
    }
  }

  Rng rng_;
  ProfileBuilder b_;
  std::vector<FrameId> frames_;
};

// Chains of up to four links for most of the addresses that are asked, some without names or lines.
std::vector<BinarySymbols> random_symbols(const Profile& profile, Rng& rng) {
  std::vector<BinarySymbols> all;
  const std::vector<BinaryCode> binaries = gather_code(profile).value();
  for (const BinaryCode& code : binaries) {
    if (code.addresses.empty() || chance(rng, 0.2)) continue;
    BinarySymbols s;
    s.name = profile.strings()[code.name];
    s.build_id = profile.strings()[code.build_id];
    s.kind = code.kind;
    s.texts = {"", "f()", "g()", "known1", "_Zf", "a.cc", "b.h"};
    s.functions = {{1, 2, 3}, {4, 0, 0}, {5, 6, 0}, {3, 0, 9}};
    s.pieces = {{kBase + kShift, kBase + kShift + 8}, {8, 0}, {4, 0}, {0, kNone}};
    for (int n = 0; n < 12; ++n) {
      s.links.parent.push_back(
          n == 0 || chance(rng, 0.4) ? kNone : static_cast<std::uint32_t>(below(rng, s.links.size())));
      s.links.function.push_back(chance(rng, 0.1) ? kNone : static_cast<std::uint32_t>(below(rng, 3)));
      s.links.file.push_back(chance(rng, 0.5) ? 0 : static_cast<std::uint32_t>(5 + below(rng, 2)));
      s.links.line.push_back(static_cast<std::uint32_t>(below(rng, 4)));
      s.links.column.push_back(0);
    }
    for (const std::uint64_t address : code.addresses) {
      if (chance(rng, 0.2)) continue;
      s.addresses.push_back(address);
      s.link.push_back(chance(rng, 0.1) ? kNone : static_cast<std::uint32_t>(below(rng, 12)));
      s.piece.push_back(chance(rng, 0.3) ? kNone : static_cast<std::uint32_t>(below(rng, 2)));
    }
    if (code.kind != AddressKind::vaddr) s.segments = {{kBase, 16, kBase + kShift}};
    all.push_back(std::move(s));
  }
  return all;
}

// Everything a frame says, in texts.
std::string describe(const Profile& p, std::uint32_t frame) {
  const FrameTable& f = p.frames();
  const auto text = [&](StringId id) { return std::string(p.strings()[id]); };
  const std::uint32_t function = f.function[frame].v;
  std::string out =
      fmt::format("{}|{}|{}|{}|{}:{}|{:x}{}{}", text(p.functions().name[function]),
                  text(p.functions().system_name[function]), text(p.functions().file[function]),
                  p.functions().start_line[function], text(f.file[frame]), f.line[frame], f.address[frame],
                  is_return(f, frame) ? "r" : "", f.inlined[frame] ? "i" : "");
  if (const ModuleId m = f.module[frame]; m.valid())
    out += fmt::format("|{} {:x} {:x}", text(p.modules().name[m.v]), p.modules().start[m.v],
                       static_cast<int>(p.modules().addresses[m.v]));
  if (const PieceId piece = value_or(f.piece, frame, PieceId{}); piece.valid())
    out += fmt::format("|{} {:x}", text(p.pieces().name[piece.v]), p.pieces().start[piece.v]);
  return out;
}

std::vector<std::uint32_t> frames_to(const Profile& p, std::uint32_t context) {
  std::vector<std::uint32_t> out;
  for (; context != 0; context = p.tree().parent[context]) out.push_back(p.tree().frame[context]);
  return {out.rbegin(), out.rend()};
}

std::string path_to(const Profile& p, std::uint32_t context) {
  std::string out;
  for (const std::uint32_t frame : frames_to(p, context)) out += describe(p, frame) + "\n";
  return out;
}

using SumsBy = std::map<std::string, std::vector<double>>;

template <class Each>
void each_value(const Profile& p, const Each& each) {
  for (std::size_t row = 0; row < p.self().contexts.size(); ++row)
    for (std::size_t m = 0; m < p.metrics().size(); ++m)
      each(p.self().contexts[row], m,
           std::visit([&](const auto& values) { return static_cast<double>(values[row]); },
                      p.self().values[m]));
}

SumsBy by_path(const Profile& p) {
  SumsBy out;
  each_value(p, [&](std::uint32_t context, std::size_t m, double value) {
    auto& sums = out[path_to(p, context)];
    sums.resize(p.metrics().size());
    sums[m] += value;
  });
  return out;
}

// By name of module: what was spent in stacks that have it, each counted once, and in it itself.
SumsBy by_module(const Profile& p) {
  SumsBy out;
  const auto name = [&](std::uint32_t frame) {
    const ModuleId m = p.frames().module[frame];
    return m.valid() ? std::string(p.strings()[p.modules().name[m.v]]) : std::string();
  };
  each_value(p, [&](std::uint32_t context, std::size_t m, double value) {
    const std::vector<std::uint32_t> frames = frames_to(p, context);
    std::set<std::string> all;
    for (const std::uint32_t frame : frames) all.insert("total " + name(frame));
    all.insert("self " + (frames.empty() ? "" : name(frames.back())));
    for (const std::string& key : all) {
      out[key].resize(p.metrics().size());
      out[key][m] += value;
    }
  });
  return out;
}

// The names that a frame becomes, by what the header says.
std::string names_of(const Profile& p, std::uint32_t frame, bool is_host,
                     const std::vector<BinarySymbols>& all) {
  const FrameTable& f = p.frames();
  const std::uint32_t function = f.function[frame].v;
  const std::string own(p.strings()[p.functions().name[function]]);
  const bool unnamed = p.functions().unresolved[function] != 0;
  const ModuleId m = f.module[frame];
  if (f.address[frame] == 0 || f.inlined[frame] != 0 || !m.valid() || (!unnamed && f.line[frame] != 0))
    return own + ";";
  const std::uint64_t at = f.address[frame] - (is_return(f, frame) ? 1 : 0);
  for (const BinarySymbols& s : all) {
    if (s.name != p.strings()[p.modules().name[m.v]] || s.kind != p.modules().addresses[m.v]) continue;
    for (std::size_t row = 0; row < s.addresses.size(); ++row) {
      if (s.addresses[row] != at || s.link[row] == kNone) continue;
      std::vector<std::string> names;
      for (std::uint32_t link = s.link[row]; link != kNone; link = s.links.parent[link]) {
        const std::uint32_t of = s.links.function[link];
        const bool outermost = s.links.parent[link] == kNone;
        names.insert(names.begin(),
                     of == kNone || (outermost && !unnamed) ? own : s.texts[s.functions.name[of]]);
      }
      if (is_host) names.resize(1);
      std::string out;
      for (const std::string& name : names) out += name + ";";
      return out;
    }
  }
  return own + ";";
}

void check_conserved(const Profile& before, const Profile& after) {
  REQUIRE(after.metrics().size() == before.metrics().size());
  for (std::size_t m = 0; m < before.metrics().size(); ++m)
    REQUIRE(after.total(MetricId{m}) == before.total(MetricId{m}));
  REQUIRE(after.n_samples() == before.n_samples());
  REQUIRE(by_module(after) == by_module(before));
  REQUIRE((after.samples() == nullptr) == (before.samples() == nullptr));
}

}  // namespace

TEST_CASE("law: symbols conserve every sum, and a frame becomes what its address says") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    INFO("seed " << seed);
    const ProfilePtr before = RandomRecording(seed).make();
    Rng rng(seed + 1000);
    const std::vector<BinarySymbols> symbols = random_symbols(*before, rng);
    const ProfilePtr after = symbolized(*before, symbols).value();
    check_conserved(*before, *after);

    std::vector<std::uint8_t> is_host(before->frames().size(), 0);
    for (std::uint32_t c = 1; c < before->tree().size(); ++c)
      if (before->frames().inlined[before->tree().frame[c]] != 0 && before->tree().parent[c] != 0)
        is_host[before->tree().frame[before->tree().parent[c]]] = 1;
    const auto expected_path = [&](std::uint32_t context) {
      std::string path;
      for (const std::uint32_t f : frames_to(*before, context))
        path += names_of(*before, f, is_host[f] != 0, symbols);
      return path;
    };
    const auto actual_path = [&](std::uint32_t context) {
      std::string path;
      for (const std::uint32_t f : frames_to(*after, context))
        path += std::string(after->function_name(after->frames().function[f])) + ";";
      return path;
    };
    std::map<std::string, std::vector<double>> expected, actual;
    const auto add = [](auto& sums, const std::string& path, std::size_t m, double value) {
      sums[path].resize(2);
      sums[path][m] += value;
    };
    each_value(*before, [&](std::uint32_t context, std::size_t m, double value) {
      add(expected, expected_path(context), m, value);
    });
    each_value(*after, [&](std::uint32_t context, std::size_t m, double value) {
      add(actual, actual_path(context), m, value);
    });
    const auto is_nothing = [](const auto& entry) { return entry.second == std::vector<double>{0, 0}; };
    std::erase_if(expected, is_nothing);
    std::erase_if(actual, is_nothing);
    REQUIRE(actual == expected);

    // Records, and samples that are in the order of their times, stay at their stacks.
    const AssociationTable &had = before->associations()[0], &has = after->associations()[0];
    REQUIRE(has.size() == had.size());
    for (std::size_t row = 0; row < had.size(); ++row)
      REQUIRE(actual_path(has.contexts[0][row]) == expected_path(had.contexts[0][row]));
    if (before->samples() == nullptr || before->samples()->time.empty()) continue;
    const SampleTable &samples = *before->samples(), &kept = *after->samples();
    REQUIRE(kept.size() == samples.size());
    for (std::size_t row = 0; row < samples.size(); ++row) {
      REQUIRE(actual_path(kept.context[row]) == expected_path(samples.context[row]));
      REQUIRE(kept.time[row] == samples.time[row]);
      REQUIRE(after->threads().tid[kept.thread[row]] == before->threads().tid[samples.thread[row]]);
      REQUIRE((value_or(kept.label_set, row, 0u) != 0) == (value_or(samples.label_set, row, 0u) != 0));
      REQUIRE(std::get<0>(kept.values[0])[row] == std::get<0>(samples.values[0])[row]);
    }
  }
}

TEST_CASE("law: symbols that were applied change nothing, nor does their order of binaries") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    INFO("seed " << seed);
    const ProfilePtr before = RandomRecording(seed).make();
    Rng rng(seed + 2000);
    const std::vector<BinarySymbols> symbols = random_symbols(*before, rng);
    const ProfilePtr once = symbolized(*before, symbols).value();
    const ProfilePtr twice = symbolized(*once, symbols).value();
    REQUIRE(by_path(*twice) == by_path(*once));
    REQUIRE(twice->tree().size() == once->tree().size());
    ProfilePtr one_by_one = before;
    for (auto s = symbols.rbegin(); s != symbols.rend(); ++s)
      one_by_one = symbolized(*one_by_one, {&*s, 1}).value();
    REQUIRE(by_path(*one_by_one) == by_path(*once));
  }
}

TEST_CASE("law: what is gathered is what brute force finds") {
  for (std::uint64_t seed = 1; seed <= n_cases(); ++seed) {
    INFO("seed " << seed);
    const ProfilePtr p = RandomRecording(seed).make();
    const SumsBy modules = by_module(*p);
    std::map<std::string, std::pair<double, double>> sums;
    const std::vector<BinaryCode> binaries = gather_code(*p).value();
    for (const BinaryCode& code : binaries) {
      const std::string name(p->strings()[code.name]);
      sums[name].first += code.total;
      sums[name].second += code.self;
      REQUIRE(std::is_sorted(code.addresses.begin(), code.addresses.end()));
      std::set<std::uint64_t> open;
      std::uint64_t n = 0;
      for (std::uint32_t f = 0; f < p->frames().size(); ++f) {
        const ModuleId m = p->frames().module[f];
        bool used = false;
        for (std::uint32_t c = 1; c < p->tree().size(); ++c) used |= p->tree().frame[c] == f;
        if (!used || !m.valid() || p->modules().name[m.v] != code.name || p->frames().address[f] == 0)
          continue;
        ++n;
        const bool unnamed = p->functions().unresolved[p->frames().function[f].v] != 0;
        if ((unnamed || p->frames().line[f] == 0) && p->frames().inlined[f] == 0)
          open.insert(lookup_address(p->frames(), f));
      }
      REQUIRE(n == code.n_frames);
      if (code.kind == AddressKind::unknown) open.clear();
      REQUIRE(std::vector<std::uint64_t>(open.begin(), open.end()) == code.addresses);
    }
    for (const auto& [name, sum] : sums) {
      const auto value = [&](const std::string& key) {
        const auto at = modules.find(key + name);
        return at == modules.end() ? 0 : at->second[0];
      };
      REQUIRE(sum.first == value("total "));
      REQUIRE(sum.second == value("self "));
    }
  }
}
