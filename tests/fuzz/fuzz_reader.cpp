// Opens the input with the readers of the program: with one alone it is that format, with all of them it is
// sniffed. The first byte of an input is a set of options, the rest is the file, or several files (see
// tests/fuzz/README.md).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/context_tree.h"
#include "core/model/timeline_order.h"
#include "formats/folder.h"
#include "formats/open.h"

using namespace profd;

namespace {

enum Option : std::uint8_t { kPartial = 1, kFolder = 2, kBeside = 4 };

constexpr std::string_view kFileMark = "\n%file ";
constexpr std::uint64_t kMaxBytes = 16u << 20;

// In an allocation of exactly its size, so that the address sanitizer sees the first byte read too far.
ByteSource exact_source(std::string_view bytes, std::string name) {
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> span(copy.get(), bytes.size());
  ByteSource source(span, std::move(copy), std::move(name));
  source.set_private(true);
  return source;
}

// The files between the marks: "\n%file NAME\n" and the content. Lengths would not survive a mutation.
class MarkedFolder final : public Folder {
 public:
  explicit MarkedFolder(std::string_view bytes) {
    for (std::size_t mark = bytes.find(kFileMark); mark != std::string_view::npos;) {
      const std::size_t name = mark + kFileMark.size();
      const std::size_t end = std::min(bytes.find(kFileMark, name), bytes.size());
      const std::size_t line_end = std::min(bytes.find('\n', name), end);
      const std::size_t begin = std::min(line_end + 1, end);
      const std::string_view file = bytes.substr(name, line_end - name);
      if (is_safe(file)) contents_[std::string(file)] = bytes.substr(begin, end - begin);
      mark = end == bytes.size() ? std::string_view::npos : end;
    }
    for (const auto& [file, content] : contents_) files_.push_back(file);
    std::sort(files_.begin(), files_.end(), natural_less);
  }
  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  bool has(std::string_view file) const override { return contents_.find(file) != contents_.end(); }
  Result<ByteSource> open(std::string_view file) const override {
    const auto found = contents_.find(file);
    if (found == contents_.end()) return fail(ErrorCode::not_found, "there is no such file");
    return exact_source(found->second, found->first);
  }

 private:
  // As folders and archives are listed: no empty parts, nothing hidden, no way up.
  static bool is_safe(std::string_view file) {
    return !file.empty() && !file.starts_with('/') && !file.starts_with('.') && !file.ends_with('/') &&
           file.find('\\') == std::string_view::npos && file.find('\0') == std::string_view::npos &&
           file.find("//") == std::string_view::npos && file.find("/.") == std::string_view::npos;
  }

  std::string name_ = "folder";
  std::map<std::string, std::string, std::less<>> contents_;
  std::vector<std::string> files_;
};

OpenInput input_of(std::string_view bytes, std::uint8_t options) {
  OpenInput input;
  if ((options & (kFolder | kBeside)) == 0) {
    input.file = exact_source(bytes, "");
    return input;
  }
  auto folder = std::make_shared<MarkedFolder>(bytes);
  if ((options & kFolder) != 0 || folder->files().empty()) {
    input.folder = std::move(folder);
    return input;
  }
  if (auto file = folder->open(folder->files().front())) input.file = std::move(*file);
  input.beside = std::move(folder);
  return input;
}

// Callers that are as long as the copy, and whatever is in it.
Result<UnwoundStacks> unwind(const StackBatch& batch) {
  const std::size_t n = batch.size();
  std::size_t at = 0;
  UnwoundStacks out;
  if (batch.space.size() != n || batch.known.size() != n || batch.n_bytes.size() != n ||
      batch.registers.size() != n * registers_of(batch.machine))
    std::abort();
  for (std::size_t i = 0; i < n; ++i) {
    if (batch.space[i] >= batch.space_end.size() || batch.n_bytes[i] > batch.bytes.size() - at) std::abort();
    out.addresses.push_back(batch.pc[i]);
    const std::uint32_t n_callers = std::min(batch.n_bytes[i] / 8, 16u);
    for (std::uint32_t k = 0; k < n_callers; ++k) {
      std::uint64_t address = 0;
      std::memcpy(&address, batch.bytes.data() + at + 8 * k, 8);
      if (k % 3 == 2) out.exact.push_back(static_cast<std::uint32_t>(out.addresses.size()));
      out.addresses.push_back(address);
    }
    out.n_addresses.push_back(n_callers + 1);
    out.end.push_back(static_cast<StackEnd>(i % kNStackEnds));
    out.module.push_back(batch.modules.empty() ? kNone : 0);
    at += batch.n_bytes[i];
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  OpenOptions options;
  if (all_readers().size() == 1) options.format = all_readers().front()->info().id;
  options.partial = (data[0] & kPartial) != 0;
  options.limits.expanded_bytes = kMaxBytes;
  options.limits.stack_depth = 100'000;
  options.unwind = unwind;
  SerialExecutor executor;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
#ifdef PROFD_FUZZ_MAGIC
  bytes.replace(0, std::string_view(PROFD_FUZZ_MAGIC).size(), PROFD_FUZZ_MAGIC);
#endif
  const auto opened = open_profiles(input_of(bytes, data[0]), options, executor, {});
  if (!opened) {
    if (opened.error().message.empty()) std::abort();
    return 0;
  }
  for (const ProfilePtr& profile : opened->profiles) {
    if (!is_well_formed(profile->tree(), profile->frames().size())) {
      std::fputs("a context tree that is not well formed\n", stderr);
      std::abort();
    }
    const Timeline* const timeline = profile->timeline();
    if (timeline == nullptr) continue;
    const SampleTable* const samples = profile->samples();
    if (!in_order(timeline->spans, 0, timeline->spans.size()) ||
        !in_order(timeline->markers, 0, timeline->markers.size()) ||
        (samples != nullptr && !in_order(timeline->samples, *samples, 0, samples->size()))) {
      std::fputs("a timeline that is not in order\n", stderr);
      std::abort();
    }
  }
  return 0;
}
