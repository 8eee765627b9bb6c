// The resolver: however damaged the debug information is, chains are well-formed and do not depend on how
// work is shared out. The first byte says whether a second file follows and what it is: 1 its debug file, 2
// the alternate of dwz, 3 a .dwo. Then come four bytes, the size of the first file, lowest byte first.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "native/lines/resolver.h"

using namespace profd;
using namespace profd::native;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

class Pieces final : public Executor {
 public:
  unsigned width() const override { return 3; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    for (std::size_t i = n_tasks; i-- > 0;) task(i);
  }
};

std::string text_of(const Chains& chains, std::size_t i) {
  std::string text;
  for (std::uint32_t row = chains.link_of[i]; row != kNone; row = chains.links[row].parent) {
    const Chains::Link& link = chains.links[row];
    text +=
        chains.texts[link.file] + ":" + std::to_string(link.line) + ":" + std::to_string(link.column) + " ";
    if (link.function != kNone) {
      const Chains::Function& function = chains.functions[link.function];
      text +=
          chains.texts[function.linkage] + "|" + (function.linkage == 0 ? chains.texts[function.name] : "");
    }
    text += "\n";
  }
  if (chains.piece_of[i] != kNone) text += std::to_string(chains.pieces[chains.piece_of[i]].start);
  return text;
}

void check(const Chains& chains, const std::vector<std::uint64_t>& vaddrs) {
  demand(chains.link_of.size() == vaddrs.size() && chains.piece_of.size() == vaddrs.size());
  demand(!chains.texts.empty() && chains.texts[0].empty());
  const auto is_text = [&](std::uint32_t row) { return row < chains.texts.size(); };
  for (std::uint32_t i = 0; i < chains.links.size(); ++i) {
    const Chains::Link& link = chains.links[i];
    demand(link.parent == kNone || link.parent < i);
    demand(link.function == kNone || link.function < chains.functions.size());
    demand(is_text(link.file));
  }
  for (const Chains::Function& function : chains.functions)
    demand(is_text(function.linkage) && is_text(function.name) && is_text(function.file) &&
           (function.linkage != 0 || function.name != 0));
  for (std::size_t i = 0; i < vaddrs.size(); ++i) {
    demand(chains.link_of[i] == kNone || chains.link_of[i] < chains.links.size());
    if (chains.piece_of[i] == kNone) continue;
    demand(chains.piece_of[i] < chains.pieces.size());
    const Chains::Piece& piece = chains.pieces[chains.piece_of[i]];
    demand(is_text(piece.raw_name) && (piece.function == kNone || piece.function < chains.functions.size()));
    demand(piece.start <= vaddrs[i] && vaddrs[i] - piece.start < piece.size);
  }
  for (const std::string& text : chains.texts) demand(text.size() <= 3 * 4096 + 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const unsigned kind = data[0] & 3;
  const std::size_t stated = data[1] | data[2] << 8 | data[3] << 16 | std::size_t{data[4]} << 24;
  const Bytes files(data + 5, size - 5);
  const std::size_t first = kind == 0 ? files.size() : std::min(stated, files.size());
  const auto image = read_elf(files.first(first));
  if (!image) return 0;
  const auto second = read_elf(files.subspan(first));
  ModuleFiles module;
  module.binary = &*image;
  if (second && kind == 1) module.debug = &*second;
  if (second && kind == 2) module.alternate = &*second;
  if (second && kind == 3) module.split.push_back(&*second);
  const auto resolver = Resolver::open(module, {1u << 22});
  if (!resolver) {
    demand(!resolver.error().message.empty());
    return 0;
  }
  std::vector<std::uint64_t> vaddrs;
  for (const VaddrRange& range : executable_ranges(*image)) {
    const std::uint64_t step = (range.end - range.begin) / 64 + 1;
    for (std::uint64_t at = range.begin; at < range.end && vaddrs.size() < 512; at += step) {
      vaddrs.push_back(at);
      if (at > UINT64_MAX - step) break;
    }
  }
  SerialExecutor one;
  Pieces several;
  const auto chains = resolver->resolve(vaddrs, one);
  const auto again = resolver->resolve(vaddrs, several);
  demand(chains && again);
  check(*chains, vaddrs);
  check(*again, vaddrs);
  for (std::size_t i = 0; i < vaddrs.size(); ++i) demand(text_of(*chains, i) == text_of(*again, i));
  std::size_t answered = 0;
  const auto in_parts = resolver->resolve_parts(
      vaddrs, {7, 7}, one, {}, [&](std::span<const std::uint32_t> places, Chains part) -> Result<void> {
        for (std::size_t i = 0; i < places.size(); ++i)
          demand(text_of(part, i) == text_of(*chains, places[i]));
        answered += places.size();
        return {};
      });
  demand(in_parts && answered == vaddrs.size());
  (void)resolver->wishes(vaddrs);
  return 0;
}
