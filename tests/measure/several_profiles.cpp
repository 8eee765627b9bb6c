// profd-measure-several pair BEFORE AFTER: what a comparison of two profiles costs, in step and merged.
// profd-measure-several merge FILE...: what merging many costs, one after another, and what it holds.
#include <cstring>

#include "core/layout/flame.h"
#include "core/model/merge.h"
#include "core/view/column_tree.h"
#include "core/view/comparison.h"
#include "core/view/of_two.h"
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
  const Merged merged = timed("merge", [&] {
    Merging merging;
    for (const ProfilePtr& one : {a, b}) check(merging.add(*one, true, {}).map([] { return 0; }));
    return check(std::move(merging).finish(executor, {}));
  });
  std::printf("%zu contexts, peak %.0f MiB\n", merged.profile->tree().size(), mib_of("VmHWM"));
  const SelectionPtr whole = timed("select merged", [&] { return selected(merged.profile); });
  for (const OfTwo of : {OfTwo::most, OfTwo::change})
    timed(of == OfTwo::most ? "widths of the larger side" : "widths of the change", [&] {
      return check(select_of_two({&merged, in_a, in_b, 1}, whole->boxes, of, {}));
    });
  return 0;
}

int merge(int n, char** files, Executor& executor) {
  Merging merging;
  std::size_t n_values = 0, largest = 0;
  timed("merge, reading included", [&] {
    for (int i = 0; i < n; ++i) {
      const ProfilePtr input = opened(files[i], executor);
      largest = std::max(largest, input->memory());
      check(merging.add(*input, false, {}).map([] { return 0; }));
    }
    return 0;
  });
  std::printf("held before the end: %.1f MiB, resident %.1f, peak %.1f\n",
              static_cast<double>(merging.memory()) / (1 << 20), mib_of("VmRSS"), mib_of("VmHWM"));
  const Merged merged = timed("finish", [&] { return check(std::move(merging).finish(executor, {})); });
  for (const InputValues& values : merged.values) n_values += values.input.size();
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  const double allowed = mib(merged.profile->memory()) + mib(16 * n_values) + mib(largest);
  std::printf("union: %zu contexts, %.1f MiB; %zu values, %.1f MiB; largest input %.1f MiB\n",
              merged.profile->tree().size(), mib(merged.profile->memory()), n_values, mib(12 * n_values),
              mib(largest));
  std::printf("peak %.1f MiB; union, 16 bytes a value and an input are %.1f MiB\n", mib_of("VmHWM"), allowed);
  const SelectionPtr whole =
      timed("select merged", [&] { return check(select(merged.profile, {}, {}, {}, executor)); });
  const auto keys = timed("keys joined",
                          [&] { return joined_keys(*merged.profile, whole->boxes->keys, merged.frames_of); });
  std::printf("%zu keys of %zu, peak %.1f MiB\n", keys->n_keys(), whole->boxes->keys->n_keys(),
              mib_of("VmHWM"));
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
