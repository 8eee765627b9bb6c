#include "tests/unit/formats/profd/random_profile.h"

#include <random>

#include "core/model/branch_sums.h"
#include "core/model/profile_builder.h"

namespace profd::test {
namespace {

class Generator {
 public:
  explicit Generator(const RandomProfile& options) : o_(options), random_(options.seed) {}

  ProfilePtr make() {
    info();
    for (std::size_t m = 0; m < 1 + o_.seed % 3; ++m)
      metrics_.push_back(b_.add_metric("metric" + std::to_string(m), m == 1 ? "bytes" : "ns", one_in(4)));
    b_.set_default_metric(metrics_.back());
    tables();
    contexts();
    if (o_.seed % 4 == 0)
      self();
    else
      samples();
    if (one_in(2)) associations();
    if (one_in(3)) stated();
    if (one_in(2)) timeline();
    if (one_in(2)) branches();
    if (one_in(3)) b_.set_n_samples(random_() % 1000);
    return std::move(b_).finish().value();
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  std::string word() {
    static const std::vector<std::string> kWords{
        "main", "f\xC3\xBC", "", "std::vector<int>::push_back", "\xE2\x86\x92", "a b", "x"};
    return kWords[random_() % kWords.size()] + std::to_string(random_() % 30);
  }
  std::int64_t number() {
    const auto wide = static_cast<std::int64_t>((std::uint64_t{random_()} << 32) | random_());
    return one_in(20) ? wide : static_cast<std::int64_t>(random_() % 2000) - 1000;
  }

  void info() {
    ProfileInfo& info = b_.info();
    info.name = word();
    info.format = "pprof";
    if (one_in(2)) info.producer = word();
    if (one_in(2)) info.time_ns = number();
    if (one_in(2)) info.duration_ns = number();
    if (one_in(2)) info.period = number();
    info.period_type = word();
    info.period_unit = word();
    for (unsigned i = random_() % 3; i > 0; --i) info.comments.push_back(word());
    for (unsigned i = random_() % 3; i > 0; --i) info.properties.emplace_back(word(), word());
  }

  void tables() {
    std::vector<ModuleId>& modules = modules_;
    for (unsigned i = random_() % 4; i > 0; --i) {
      const std::string name = word(), build = word();
      const auto kind = static_cast<AddressKind>(random_() % kNAddressKinds);
      modules.push_back(b_.module({name, build, random_(), random_(), random_(), kind, random_()}));
    }
    std::vector<FunctionId> functions;
    for (std::size_t i = 0; i < 1 + o_.n_frames / 2; ++i)
      functions.push_back(b_.function(FunctionSpec{b_.string(word()), b_.string(word()), b_.string(word()),
                                                   static_cast<std::uint32_t>(random_() % 100), one_in(5)}));
    std::vector<PieceId> pieces{PieceId{}};
    const bool returns = one_in(2);
    for (unsigned i = one_in(2) ? random_() % 5 : 0; i > 0; --i)
      pieces.push_back(
          b_.piece({modules[random_() % modules.size()], random_(), random_() % 100, b_.string(word()),
                    one_in(3) ? FunctionId{} : functions[random_() % functions.size()]}));
    for (std::size_t i = 0; i < o_.n_frames; ++i)
      frames_.push_back(b_.frame(
          {functions[random_() % functions.size()], modules[random_() % modules.size()], b_.string(word()),
           static_cast<std::uint32_t>(random_()), static_cast<std::uint32_t>(random_() % 5), random_(),
           static_cast<FrameKind>(random_() % kNFrameKinds), one_in(3), returns && one_in(3),
           pieces[random_() % pieces.size()]}));
    for (unsigned i = 0; i < 3; ++i) {
      const std::string name = word(), process = word();
      threads_.push_back(b_.thread({name, process, number(), number()}));
      const std::vector<Label> labels{{b_.string(word()), false, b_.string(word()), 0, StringId{0u}},
                                      {b_.string(word()), true, StringId{0u}, number(), b_.string(word())}};
      label_sets_.push_back(b_.label_set(labels));
    }
  }

  void contexts() {
    contexts_.push_back(kRootContext);
    for (std::size_t i = 0; i < o_.n_samples; ++i) {
      const ContextId parent = one_in(3) ? contexts_[random_() % contexts_.size()] : contexts_.back();
      contexts_.push_back(b_.context(parent, frames_[random_() % frames_.size()]));
    }
  }
  ContextId any_context() { return contexts_[random_() % contexts_.size()]; }

  void self() {
    for (std::size_t i = 0; i < o_.n_samples; ++i) {
      for (MetricId m : metrics_) b_.add_self(any_context(), m, number());
    }
  }
  void samples() {
    const bool times = one_in(2), threads = one_in(2), labels = one_in(2), states = one_in(3);
    std::vector<Value> values(metrics_.size());
    for (std::size_t i = 0; i < o_.n_samples; ++i) {
      for (Value& v : values) v = number();
      SampleContext where;
      if (times) where.time = number();
      if (threads && !one_in(4)) where.thread = threads_[random_() % threads_.size()];
      if (labels && one_in(2)) where.labels = label_sets_[random_() % label_sets_.size()];
      if (states) where.state = static_cast<ThreadState>(random_() % kNThreadStates);
      b_.add_sample(any_context(), std::span<const Value>(values), where);
    }
  }
  void associations() {
    const std::size_t n = random_() % 10;
    AssociationTable table{
        "reuse", {"use", "reuse"}, {}, {{"times", "count", false}, {"share", "", false}}, {}};
    for (std::size_t role = 0; role < 2; ++role) {
      std::vector<std::uint32_t> column;
      for (std::size_t i = 0; i < n; ++i) column.push_back(one_in(4) ? kNone : any_context().v);
      table.contexts.emplace_back(std::move(column));
    }
    for (std::size_t role = 0; role < 2 && n % 2 == 1; ++role) {
      std::vector<std::uint32_t> column;
      for (std::size_t i = 0; i < n; ++i)
        column.push_back(one_in(4) ? kNone : threads_[random_() % threads_.size()].v);
      table.threads.emplace_back(std::move(column));
    }
    std::vector<std::int64_t> times;
    std::vector<double> shares;
    for (std::size_t i = 0; i < n; ++i) {
      times.push_back(number());
      shares.push_back(static_cast<double>(number()) / 7);
    }
    table.values.emplace_back(Column(std::move(times)));
    table.values.emplace_back(Column(std::move(shares)));
    b_.add_association(std::move(table));
  }

  void stated() {
    const bool nothing = one_in(3);
    b_.state_costs(nothing ? std::vector<MetricId>{} : std::vector<MetricId>{metrics_.back()});
    const auto frame = [&](bool may_lack) {
      return may_lack && one_in(4) ? FrameId{} : frames_[random_() % frames_.size()];
    };
    for (unsigned i = random_() % 10; i > 0; --i) {
      const Value value = number();
      const auto totals = [&] { return std::span(&value, nothing || one_in(4) ? 0 : 1); };
      b_.state_function(frame(false), totals());
      b_.state_call(frame(true), frame(true), totals());
    }
  }

  // Every optional column is absent in some profiles.
  void timeline() {
    TimelineBuilder& out = b_.timeline();
    const bool contexts = one_in(2), names = one_in(2), threads = one_in(2), times = one_in(2);
    const auto context = [&] { return contexts && one_in(2) ? any_context() : ContextId{}; };
    const auto thread = [&] { return threads && one_in(2) ? threads_[random_() % 3] : ThreadId{}; };
    const auto name = [&] { return names ? b_.string(word()) : StringId{0u}; };
    const auto end = [&](std::int64_t begin) {
      return one_in(4) ? kNoTime : begin + static_cast<std::int64_t>(random_() % 9);
    };
    std::vector<TaskId> tasks{TaskId{}};
    for (unsigned i = random_() % 8; i > 0; --i) {
      const std::int64_t begin = times ? number() / 2 : kNoTime;
      tasks.push_back(out.add_task({.name = b_.string(word()),
                                    .parent = tasks[random_() % tasks.size()],
                                    .thread = thread(),
                                    .context = context(),
                                    .begin = begin,
                                    .end = times ? end(begin) : kNoTime}));
      if (one_in(3)) out.set_awaits(tasks.back(), tasks[random_() % tasks.size()]);
    }
    for (std::size_t i = random_() % (o_.n_samples + 1); i > 0; --i) {
      const std::int64_t begin = number() / 2;
      out.add_span({.begin = begin,
                    .end = end(begin),
                    .context = context(),
                    .name = name(),
                    .thread = thread(),
                    .task = tasks[random_() % tasks.size()]});
    }
    for (unsigned i = random_() % 20; i > 0; --i) {
      const std::int64_t begin = number() / 2;
      out.add_marker({.begin = begin,
                      .end = end(begin),
                      .name = b_.string(word()),
                      .category = name(),
                      .thread = thread(),
                      .context = context(),
                      .fields = times ? label_sets_[random_() % 3] : LabelSetId{0u}});
    }
    for (unsigned i = random_() % 4; i > 0; --i) {
      const CounterId counter = out.counter({.name = b_.string(word()),
                                             .unit = name(),
                                             .process = name(),
                                             .thread = thread(),
                                             .changes = times && one_in(2)});
      for (unsigned n = random_() % 9; n > 0; --n) out.add_point(counter, number(), number() / 3.0);
    }
  }

  void branches() {
    BranchSums sums;
    sums.add_stacks(1 + random_() % 100);
    sums.leave_out(random_() % 3);
    for (unsigned i = modules_.size() < 2 ? 0 : random_() % 30; i > 0; --i) {
      const auto module = [&] { return modules_[1 + random_() % (modules_.size() - 1)]; };
      const std::uint64_t n = 1 + random_() % 50, at = random_();
      sums.add_taken(
          sums.taken_row({module(), at}, one_in(5) ? BranchPlace{} : BranchPlace{module(), random_()}),
          {n, n, random_() % n, n - 1, random_() % 1000});
      sums.add_run(sums.run_row(module(), at, at + random_() % 90000), n);
    }
    b_.set_branches(std::move(sums).finish());
  }

  RandomProfile o_;
  std::mt19937 random_;
  ProfileBuilder b_;
  std::vector<MetricId> metrics_;
  std::vector<ModuleId> modules_{ModuleId{}};
  std::vector<FrameId> frames_;
  std::vector<ThreadId> threads_;
  std::vector<LabelSetId> label_sets_;
  std::vector<ContextId> contexts_;
};

}  // namespace

ProfilePtr random_profile(const RandomProfile& options) {
  return Generator(options).make();
}

std::string write_to_string(const std::vector<ProfilePtr>& profiles, const ProfdWriteOptions& options) {
  std::string out;
  const auto sink = [&](std::span<const std::byte> bytes) -> Result<void> {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  if (!write_profd(profiles, options, sink)) out.clear();
  return out;
}

Result<OpenedFile> open_native(std::string content) {
  SerialExecutor serial;
  OpenOptions options;
  options.format = "profd";
  return open_profiles(memory_source(std::move(content), "test.profd"), options, serial, {});
}

Result<ProfilePtr> open_one(std::string content) {
  PROFD_TRY(OpenedFile opened, open_native(std::move(content)));
  return opened.profiles.at(0);
}

}  // namespace profd::test
