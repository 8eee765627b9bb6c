#include "native/unwind/frame_table.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "native/elf/encoded_pointer.h"

namespace profd::native {
namespace {

constexpr std::uint64_t kMaxExpandedFrames = std::uint64_t{256} << 20;

class FrameReader {
 public:
  FrameReader(FrameTable& table, bool is_debug_frame) : table_(table), is_debug_frame_(is_debug_frame) {}

  void read() {
    ByteReader in = reader(table_.section.bytes.size());
    while (in.left() > 4) {
      bool wide = false;
      const std::uint64_t length = length_of(in, wide);
      if (length == 0) continue;  // tables that were joined have an end each
      const std::uint64_t body = in.at();
      if (in.failed() || length > in.left()) break;
      read_entry(body, body + length, wide);
      in.seek(body + length);
    }
    const auto before = [](const FrameEntry& a, const FrameEntry& b) { return a.begin < b.begin; };
    if (!std::is_sorted(table_.entries.begin(), table_.entries.end(), before))
      std::stable_sort(table_.entries.begin(), table_.entries.end(), before);
  }

 private:
  ByteReader reader(std::uint64_t end, std::uint64_t at = 0) const {
    return ByteReader(slice(table_.section.bytes, 0, end), table_.big_endian, at);
  }

  static std::uint64_t length_of(ByteReader& in, bool& wide) {
    const std::uint64_t length = in.u32();
    wide = length == 0xffffffff;
    return wide ? in.u64() : length;
  }

  // What says of an entry which one it is based on: in .debug_frame its place, in .eh_frame how far back.
  std::uint64_t base_of(ByteReader& in, bool wide) const {
    return is_debug_frame_ && wide ? in.u64() : in.u32();
  }
  bool is_common(std::uint64_t base, bool wide) const {
    if (!is_debug_frame_) return base == 0;
    return base == (wide ? ~std::uint64_t{0} : std::uint64_t{0xffffffff});
  }

  void read_entry(std::uint64_t body, std::uint64_t end, bool wide) {
    ByteReader in = reader(end, body);
    const std::uint64_t base = base_of(in, wide);
    if (in.failed() || is_common(base, wide)) return;
    if (!is_debug_frame_ && base > body) return;
    const std::uint32_t row = common_at(is_debug_frame_ ? base : body - base);
    if (row == kNoCommon) return;
    const CommonEntry& common = table_.common[row];
    const auto begin = encoded_pointer(in, table_.vaddr, table_.is_64, common.encoding);
    if (!begin) return;
    const auto size = encoded_pointer(in, table_.vaddr, table_.is_64, common.encoding & 7);
    if (!size || *size == 0 || *size > UINT64_MAX - *begin) return;
    if (common.augmented) in.skip(in.uleb());
    if (in.failed()) return;
    table_.entries.push_back({*begin, *size, row, in.at(), end});
  }

  std::uint32_t common_at(std::uint64_t at) {
    const auto known = commons_.find(at);
    if (known != commons_.end()) return known->second;
    std::uint32_t row = kNoCommon;
    if (auto common = read_common(at)) {
      row = static_cast<std::uint32_t>(table_.common.size());
      table_.common.push_back(*common);
    }
    commons_.emplace(at, row);
    return row;
  }

  std::optional<CommonEntry> read_common(std::uint64_t at) const {
    ByteReader in = reader(table_.section.bytes.size(), at);
    bool wide = false;
    const std::uint64_t length = length_of(in, wide);
    if (in.failed() || length > in.left()) return std::nullopt;
    in = reader(in.at() + length, in.at());
    if (!is_common(base_of(in, wide), wide)) return std::nullopt;
    CommonEntry common;
    common.end = in.at() + in.left();
    const std::uint8_t version = in.u8();
    if (version != 1 && version != 3 && version != 4) return std::nullopt;
    const std::string_view augmentation = in.text();
    if (version == 4) {
      const unsigned address_size = in.u8(), segment_size = in.u8();
      if (address_size != (table_.is_64 ? 8u : 4u) || segment_size != 0) return std::nullopt;
    }
    common.code_unit = in.uleb();
    common.data_unit = in.sleb();
    common.return_register = version == 1 ? in.u8() : in.uleb();
    if (!augmentation.empty()) {
      if (augmentation[0] != 'z') return std::nullopt;
      common.augmented = true;
      const std::uint64_t size = in.uleb();
      const std::uint64_t program = in.at() + std::min(size, in.left());
      if (in.failed() || size > in.left()) return std::nullopt;
      if (!read_augmentation(in, augmentation.substr(1), common)) return std::nullopt;
      in.seek(program);
    }
    if (in.failed()) return std::nullopt;
    common.begin = in.at();
    return common;
  }

  bool read_augmentation(ByteReader& in, std::string_view letters, CommonEntry& common) const {
    for (const char letter : letters) {
      switch (letter) {
        case 'R':
          common.encoding = in.u8();
          break;
        case 'L':
          in.u8();
          break;
        case 'P':
          skip_pointer(in, table_.is_64, in.u8());
          break;
        case 'S':
          common.signal_frame = true;
          break;
        case 'B':  // the return address is signed by another key
        case 'G':  // memory tags
          break;
        default:
          return false;
      }
    }
    return !in.failed();
  }

  static constexpr std::uint32_t kNoCommon = ~std::uint32_t{0};
  FrameTable& table_;
  bool is_debug_frame_;
  std::unordered_map<std::uint64_t, std::uint32_t> commons_;  // by place
};

FrameTable read_table(const ElfImage& image, std::string_view name, bool is_debug_frame) {
  FrameTable table;
  table.is_64 = image.is_64;
  table.big_endian = image.big_endian;
  const Section* section = find_section(image, name);
  if (section == nullptr || !section->has_bytes()) return table;
  ExpansionBudget budget{kMaxExpandedFrames};
  auto bytes = section_bytes(image, *section, budget);
  if (!bytes) return table;
  table.section = std::move(*bytes);
  if (!is_debug_frame) table.vaddr = section->vaddr;
  FrameReader(table, is_debug_frame).read();
  return table;
}

}  // namespace

const FrameEntry* FrameTable::find(std::uint64_t at) const {
  const auto behind =
      std::upper_bound(entries.begin(), entries.end(), at,
                       [](std::uint64_t value, const FrameEntry& entry) { return value < entry.begin; });
  if (behind == entries.begin()) return nullptr;
  const FrameEntry& entry = *std::prev(behind);
  return at - entry.begin < entry.size ? &entry : nullptr;
}

FrameTable read_eh_frame(const ElfImage& image) {
  return read_table(image, ".eh_frame", false);
}
FrameTable read_debug_frame(const ElfImage& image) {
  return read_table(image, ".debug_frame", true);
}

}  // namespace profd::native
