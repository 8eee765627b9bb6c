// profd-measure-several pair BEFORE AFTER: what a comparison of two profiles costs, in step and as one.
// profd-measure-several merge FILE...: what putting many together costs, one after another, and what it
// holds.
#include <cstring>

#include "core/layout/flame.h"
#include "core/model/compose.h"
#include "core/view/column_tree.h"
#include "core/view/comparison.h"
#include "formats/open.h"
#include "tests/measure/measure.h"

using namespace profd;
using namespace profd::measure;

namespace {

ProfilePtr opened(const char* path, Executor& executor) {
  const OpenOptions options;
  const OpenInput input = check(open_input(path, options.limits.input_bytes));
  return check(open_profiles(input, options, executor, {})).profiles[0];
}

// As deep as a first picture is: boxes of a thousandth and more, by the larger side.
std::size_t first_picture(ColumnTree& tree, StopToken& stop) {
  const auto width = [&](std::uint32_t id) {
    return std::max(as_double(tree.total(id, 0)), as_double(tree.total(id, 1)));
  };
  const double least = width(0) / 1000;
  std::vector<std::uint32_t> open{0};
  std::size_t n = 0;
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    ++n;
    check(tree.expand(id, stop).map([] { return 0; }));
    for (std::uint32_t i = 0; i < tree.node(id).n_children; ++i)
      if (const std::uint32_t child = tree.node(id).first_child + i; width(child) >= least)
        open.push_back(child);
  }
  return n;
}

int pair(const char* before, const char* after, Executor& executor) {
  StopToken stop;
  const ProfilePtr a = timed("open before", [&] { return opened(before, executor); });
  const ProfilePtr b = timed("open after", [&] { return opened(after, executor); });
  std::printf("%zu and %zu contexts, peak %.0f MiB\n", a->tree().size(), b->tree().size(), mib_of("VmHWM"));
  const auto selected = [&](const ProfilePtr& of) { return check(select(of, {}, {}, {}, executor)); };
  const SelectionPtr in_a = timed("select before", [&] { return selected(a); });
  const SelectionPtr in_b = timed("select after", [&] { return selected(b); });
  const ComparisonPtr both = timed("compare: keys joined", [&] { return check(compare(in_a, in_b, {})); });
  std::printf("%zu joint keys, %zu renamed, %zu folders moved\n", both->joint.n_keys(), both->joint.n_renamed,
              both->joint.folders.size());
  for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
    ColumnTree tree = check(ColumnTree::make(columns_of(both), shape, {}, stop));
    const char* what =
        shape == Shape::top_down ? "first picture in step, top-down" : "first picture in step, bottom-up";
    const std::size_t n = timed(what, [&] { return first_picture(tree, stop); });
    std::printf("%zu boxes\n", n);
  }
  const ProfilePtr diff = timed("compose", [&] {
    Composing composing(Composed::diff);
    check(composing.add(b, {"after", false, true, {}}, {}).map([] { return 0; }));
    check(composing.add(a, {"before", true, true, {}}, {}).map([] { return 0; }));
    return check(std::move(composing).finish(executor, {}));
  });
  std::printf("%zu contexts, peak %.0f MiB\n", diff->tree().size(), mib_of("VmHWM"));
  for (const MetricRole role : {MetricRole::after, MetricRole::larger, MetricRole::difference}) {
    ViewSpec spec;
    spec.metric = metric_name(a->metrics()[a->default_metric().v].name, role);
    timed(spec.metric.c_str(), [&] { return check(select(diff, spec, {}, {}, executor)); });
  }
  return 0;
}

int merge(int n, char** files, Executor& executor) {
  Composing composing(Composed::aggregate);
  std::size_t n_values = 0, largest = 0;
  timed("merge, reading included", [&] {
    for (int i = 0; i < n; ++i) {
      const ProfilePtr input = opened(files[i], executor);
      largest = std::max(largest, input->memory());
      check(composing.add(input, {files[i], false, false, {}}, {}).map([] { return 0; }));
    }
    return 0;
  });
  std::printf("resident before the end: %.1f MiB, peak %.1f\n", mib_of("VmRSS"), mib_of("VmHWM"));
  const ProfilePtr all = timed("finish", [&] { return check(std::move(composing).finish(executor, {})); });
  for (const InputMetric& metric : all->composition()->of) n_values += metric.values.input.size();
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  const std::size_t tree = all->memory() - all->composition()->memory();
  const double allowed = mib(tree) + mib(16 * n_values) + mib(largest);
  std::printf("union: %zu contexts, %.1f MiB; %zu values, %.1f MiB; largest input %.1f MiB\n",
              all->tree().size(), mib(tree), n_values, mib(12 * n_values), mib(largest));
  std::printf("peak %.1f MiB; union, 16 bytes a value and an input are %.1f MiB\n", mib_of("VmHWM"), allowed);
  timed("select", [&] { return check(select(all, {}, {}, {}, executor)); });
  std::printf("peak %.1f MiB\n", mib_of("VmHWM"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Threads executor(std::thread::hardware_concurrency());
  if (argc == 4 && std::strcmp(argv[1], "pair") == 0) return pair(argv[2], argv[3], executor);
  if (argc > 2 && std::strcmp(argv[1], "merge") == 0) return merge(argc - 2, argv + 2, executor);
  std::fprintf(stderr, "usage: profd-measure-several pair BEFORE AFTER | merge FILE...\n");
  return 2;
}
