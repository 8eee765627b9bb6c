#include "native/worker/lookup.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/support/executor.h"
#include "native/elf/kernel_module.h"
#include "native/elf/symbols.h"
#include "native/lines/resolver.h"
#include "native/worker/files.h"
#include "workers/frames.h"

namespace profd::worker {
namespace {

using native::Chains;
using native::ElfImage;

using Place = AskedPlace;

// Addresses of the order from `from` on are those from `vaddr` on.
struct Part {
  std::uint64_t from, size, vaddr;
};

// Not so in a file of debug information alone.
bool has_code_bytes(const ElfImage& image) {
  if (image.sections.empty()) return true;
  return std::any_of(image.sections.begin(), image.sections.end(), [](const native::Section& section) {
    return section.executable() && section.has_bytes();
  });
}

// How much further in memory a kernel was than its file says; nothing where that lacks the symbol.
std::optional<std::uint64_t> shift_of(const ElfImage& image, const ModuleOrder& order) {
  for (const native::Symbol& symbol : native::code_symbols(image, native::SymbolTable::symtab))
    if (symbol.name == order.reference_symbol) return order.reference_address - symbol.vaddr;
  return std::nullopt;
}

// What of the binary's image is loaded where, for addresses of `kind`: executable parts before others where
// two would be one. `shift`: of what is loaded elsewhere than its file says.
std::vector<Part> parts_of(const ElfImage& image, Addresses kind, std::uint64_t shift) {
  std::vector<native::Segment> segments = image.segments;
  std::stable_sort(segments.begin(), segments.end(), [](const native::Segment& a, const native::Segment& b) {
    return a.executable && !b.executable;
  });
  std::uint64_t base = ~std::uint64_t{0};
  for (const native::Segment& segment : segments) base = std::min(base, segment.vaddr);
  const bool has_code = has_code_bytes(image);
  constexpr std::uint64_t kPage = 4096;  // images begin on a page
  base = base / kPage * kPage;
  std::vector<Part> parts;
  const auto add = [&](const Part& part) {
    const bool fits = part.size > 0 && part.size <= ~std::uint64_t{0} - part.from &&
                      part.size <= ~std::uint64_t{0} - part.vaddr && parts.size() < kMaxSegments;
    const auto overlaps = [&](const Part& other) {
      return part.from < other.from + other.size && other.from < part.from + part.size;
    };
    if (fits && std::none_of(parts.begin(), parts.end(), overlaps)) parts.push_back(part);
  };
  for (const native::Segment& segment : segments) {
    if (kind == Addresses::loaded)
      add({segment.vaddr + shift, segment.memory_size, segment.vaddr});
    else if (kind == Addresses::image_offset)
      add({segment.vaddr - base, segment.memory_size, segment.vaddr});
    else if (has_code)
      add({segment.offset, segment.file_size, segment.vaddr});
  }
  // A file of debug information alone: its code is the one part that is meant.
  if (kind == Addresses::file_offset && !has_code && !segments.empty())
    add({segments.front().offset, segments.front().memory_size, segments.front().vaddr});
  // A module of a kernel, laid out from 0 on.
  if (kind == Addresses::image_offset && segments.empty())
    for (const native::Section& section : image.sections)
      if (section.loaded() && section.executable() && section.vaddr < native::kModuleData)
        add({section.vaddr, section.size, section.vaddr});
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.from < b.from; });
  return parts;
}

std::vector<Place> places_of(const ModuleOrder& order, const std::vector<Part>& parts) {
  std::vector<Place> places;
  places.reserve(order.addresses.size());
  for (std::size_t i = 0; i < order.addresses.size(); ++i) {
    const std::uint64_t address = order.addresses[i];
    const auto asked = static_cast<std::uint32_t>(i);
    if (order.kind == Addresses::vaddr) {
      places.push_back({address, asked});
      continue;
    }
    const auto behind =
        std::upper_bound(parts.begin(), parts.end(), address,
                         [](std::uint64_t value, const Part& part) { return value < part.from; });
    if (behind == parts.begin()) continue;
    const Part& part = *std::prev(behind);
    if (address - part.from < part.size) places.push_back({part.vaddr + (address - part.from), asked});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.vaddr, a.asked) < std::pair(b.vaddr, b.asked);
  });
  return places;
}

// Longer names are of no use to anybody who reads them, and of some to who wants to fill memory.
std::string cut(const std::string& text) {
  return text.size() <= kMaxTextBytes ? text : text.substr(0, kMaxTextBytes);
}

// Rows from 1, with 0 for none.
std::uint32_t one_more(std::uint32_t row) {
  return row == kNone ? 0 : row + 1;
}
std::uint32_t text_or_none(std::uint32_t text) {
  return text == 0 ? 0 : text + 1;
}

Chunk chunk_of(const Chains& chains, std::span<const Place> places) {
  Chunk chunk;
  for (std::size_t i = 0; i < places.size(); ++i) {
    chunk.asked.push_back(places[i].asked);
    chunk.link.push_back(one_more(chains.link_of[i]));
    chunk.asked_piece.push_back(one_more(chains.piece_of[i]));
  }
  for (const std::string& text : chains.texts) chunk.texts.push_back(cut(text));
  // Where lines are known and names are not: a function without a name.
  const auto nameless = static_cast<std::uint32_t>(chains.functions.size());
  for (const Chains::Function& function : chains.functions) {
    chunk.function_name.push_back(function.name);
    chunk.function_linkage.push_back(text_or_none(function.linkage));
    chunk.function_file.push_back(text_or_none(function.file));
    chunk.function_line.push_back(function.line);
  }
  if (std::any_of(chains.links.begin(), chains.links.end(),
                  [](const Chains::Link& link) { return link.function == kNone; })) {
    chunk.function_name.push_back(0);
    chunk.function_linkage.push_back(0);
    chunk.function_file.push_back(0);
    chunk.function_line.push_back(0);
  }
  for (const Chains::Link& link : chains.links) {
    chunk.link_parent.push_back(one_more(link.parent));
    chunk.link_function.push_back(link.function == kNone ? nameless : link.function);
    chunk.link_file.push_back(text_or_none(link.file));
    chunk.link_line.push_back(link.line);
    chunk.link_column.push_back(link.column);
  }
  for (const Chains::Piece& piece : chains.pieces) {
    chunk.piece_start.push_back(piece.start);
    chunk.piece_size.push_back(piece.size);
    chunk.piece_name.push_back(piece.raw_name);
    chunk.piece_function.push_back(one_more(piece.function));
  }
  return chunk;
}

// Sends the chunks of places, with the parts by which they were found.
Result<Done> look_up_parts(int socket, ModuleImages& images, std::span<const Place> places,
                           std::span<const Part> parts) {
  Done done;
  std::vector<std::uint64_t> vaddrs;
  vaddrs.reserve(places.size());
  for (const Place& place : places) vaddrs.push_back(place.vaddr);
  native::ModuleFiles files;
  files.binary = images.binary ? &images.binary->image() : nullptr;
  files.debug = images.debug ? &images.debug->image() : nullptr;
  files.alternate = images.alternate ? &images.alternate->image() : nullptr;
  auto resolver = native::Resolver::open(files);
  if (!resolver) {
    done.problem = cut(resolver.error().message);
    return done;
  }
  PROFD_CHECK(find_split(socket, images, *resolver, vaddrs));
  done.lines = resolver->has_lines();
  SerialExecutor executor;
  // What is known is told, and a chunk stays below what a frame may have.
  constexpr native::Resolver::PartSizes kParts{500, 20000};
  Result<void> sent;
  const auto take = [&](std::span<const std::uint32_t> part, const Chains& chains) -> Result<void> {
    std::vector<Place> of_part;
    of_part.reserve(part.size());
    for (const std::uint32_t place : part) of_part.push_back(places[place]);
    Chunk chunk = chunk_of(chains, of_part);
    for (const Part& segment : parts) {
      chunk.segment_from.push_back(segment.from);
      chunk.segment_size.push_back(segment.size);
      chunk.segment_vaddr.push_back(segment.vaddr);
    }
    sent = send_frame(socket, encode(Report(std::move(chunk))));
    return sent;
  };
  const auto resolved = resolver->resolve_parts(vaddrs, kParts, executor, {}, take);
  PROFD_CHECK(sent);
  if (!resolved) done.problem = cut(resolved.error().message);
  return done;
}

}  // namespace

Result<Done> look_up_places(int socket, ModuleImages& images, std::span<const AskedPlace> places) {
  return look_up_parts(socket, images, places, {});
}

Result<Done> look_up(int socket, const ModuleOrder& order) {
  PROFD_TRY(ModuleImages images, find_images(socket, order));
  if (images.best() == nullptr) return Done{};
  std::vector<Part> parts;
  if (order.kind != Addresses::vaddr && !order.addresses.empty()) {
    const ElfImage& image = images.binary ? images.binary->image() : *images.best();
    std::uint64_t shift = 0;
    if (order.kind == Addresses::loaded) {
      // The binary may be without the symbols that the other file is there for.
      auto found = shift_of(image, order);
      if (!found) found = shift_of(*images.best(), order);
      if (!found) {
        Done done;
        done.problem =
            cut("its file has no " + order.reference_symbol + ", by which it would be found in memory");
        return done;
      }
      shift = *found;
    }
    parts = parts_of(image, order.kind, shift);
  }
  return look_up_parts(socket, images, places_of(order, parts), parts);
}

}  // namespace profd::worker
