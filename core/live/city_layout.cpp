#include "core/live/city_layout.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace profd {
namespace {

constexpr std::uint32_t kBlockEdge = 1;  // around the plots of a block; with the last plot's gap it is even
constexpr std::uint32_t kDistrictEdge = 3;  // around the parts of a district
constexpr std::uint32_t kBetween = 2;       // from part to part

std::uint32_t root_of(std::uint64_t area) {
  return static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(area))));
}

std::uint32_t columns_for(std::uint32_t methods) {
  auto columns = root_of(methods);
  // The root of a large square may come out a little too high or too low.
  while (columns > 1 && std::uint64_t{columns - 1} * (columns - 1) >= methods) --columns;
  while (std::uint64_t{columns} * columns < methods) ++columns;
  return std::max(columns, 1u);
}

std::uint32_t length_of_plots(std::uint32_t count) {
  return 2 * kBlockEdge + count * kCityPitch - (kCityPitch - kCityPlot);
}

struct Size {
  std::uint32_t width, depth;
};

Size size_of_block(std::uint32_t columns, std::uint32_t methods) {
  const auto rows = std::max((methods + columns - 1) / columns, 1u);
  return {length_of_plots(columns), length_of_plots(rows)};
}

enum class PartKind : char { district = 'd', block = 'b' };

struct PartId {
  PartKind kind;
  std::uint32_t row;
};

CityPart& part_of(City& city, PartId id) {
  return (id.kind == PartKind::district ? city.district_parts : city.block_parts)[id.row];
}

// Rows of blocks stand behind those of districts where both are parts of one list.
constexpr std::uint32_t kBlockBit = 0x80000000u;

std::uint32_t packed(PartId id) {
  return id.kind == PartKind::block ? id.row | kBlockBit : id.row;
}

void set_size(CityPart& part, Size size) {
  part.width = size.width;
  part.depth = size.depth;
}

// Puts a part of a known size at the end of its district.
void place_at_end(City& city, PartId id) {
  CityPart& part = part_of(city, id);
  CityShelves& shelves = city.shelves[part.parent];
  const auto width = std::max(part.width, part.room_width), depth = std::max(part.depth, part.room_depth);
  const bool first = shelves.last == kNoCityRow;
  const bool above =
      !first && width <= shelves.column_width && shelves.filled + kBetween + depth <= shelves.height;
  if (above) {
    part.y = shelves.y + shelves.filled + kBetween;
    shelves.filled += kBetween + depth;
  } else {
    const auto next = first ? 0 : shelves.column + shelves.column_width + kBetween;
    // What has become much deeper than wide becomes wider.
    const auto deep = std::uint64_t{shelves.y} + shelves.height + kBetween + depth;
    if (!first && deep > shelves.limit + std::uint64_t{shelves.limit} / 2)
      shelves.limit = std::max(shelves.limit, next + width);
    if (!first && std::uint64_t{next} + width > shelves.limit) {
      shelves.y += shelves.height + kBetween;
      shelves.height = 0;
      shelves.column = 0;
    } else {
      shelves.column = next;
    }
    shelves.column_width = width;
    shelves.filled = depth;
    part.y = shelves.y;
  }
  shelves.height = std::max(shelves.height, shelves.filled);
  shelves.width = std::max(shelves.width, shelves.column + shelves.column_width);
  part.x = shelves.column + kDistrictEdge;
  part.y += kDistrictEdge;
  part.room_width = width;
  part.room_depth = depth;
  shelves.last = packed(id);
}

Size size_of_district(const CityShelves& shelves) {
  return {shelves.width + 2 * kDistrictEdge, shelves.y + shelves.height + 2 * kDistrictEdge};
}

std::string key_of(PartKind kind, std::uint32_t parent, std::string_view name) {
  std::string key(1, static_cast<char>(kind));
  key.append(reinterpret_cast<const char*>(&parent), sizeof parent);
  key.append(name);
  return key;
}

std::uint32_t add_district(City& city, std::uint32_t parent, std::string_view name) {
  const auto row = static_cast<std::uint32_t>(city.districts.name.size());
  city.districts.name.emplace_back(name);
  city.districts.parent.push_back(parent);
  city.districts.level.push_back(parent == kNoCityRow ? 0 : city.districts.level[parent] + 1);
  city.districts.methods.push_back(0);
  city.district_parts.push_back({.parent = parent});
  city.parts.emplace_back();
  city.shelves.emplace_back();

  return row;
}

// The elements of a path; of what is deeper than districts go, the rest is one element.
struct Element {
  std::string_view name, rest;
};

Element first_element(std::string_view path, std::string_view separator, bool last) {
  const auto end = last || separator.empty() ? std::string_view::npos : path.find(separator);
  if (end == std::string_view::npos) return {path, {}};
  return {path.substr(0, end), path.substr(end + separator.size())};
}

std::uint32_t district_of(City& city, std::string_view path) {
  std::uint32_t at = 0;
  while (!path.empty()) {
    const auto [name, rest] = first_element(path, city.separator, city.districts.level[at] + 1 == kCityDepth);
    path = rest;
    const auto [found, fresh] = city.known.try_emplace(key_of(PartKind::district, at, name));
    if (fresh) found->second = add_district(city, at, name);
    at = found->second;
  }
  return at;
}

std::uint32_t block_of(City& city, std::uint32_t district, std::string_view name) {
  const auto [found, fresh] = city.known.try_emplace(key_of(PartKind::block, district, name));
  if (fresh) {
    found->second = static_cast<std::uint32_t>(city.blocks.name.size());
    city.blocks.name.emplace_back(name);
    city.blocks.district.push_back(district);
    city.blocks.columns.push_back(1);
    city.blocks.methods.push_back(0);
    city.block_parts.push_back({.parent = district});
  }
  return found->second;
}

// Finds the block of each method from `from` on. Methods of a class mostly come one after the other.
void join_blocks(City& city, std::span<const CityMethod> methods, std::size_t from) {
  std::string_view package, type;
  std::uint32_t district = 0, block = kNoCityRow;
  for (std::size_t i = from; i < methods.size(); ++i) {
    const CityMethod& method = methods[i];
    const bool same_package = block != kNoCityRow && method.package == package;
    if (!same_package) district = district_of(city, method.package);
    if (!same_package || method.type != type) block = block_of(city, district, method.type);
    package = method.package;
    type = method.type;
    city.plots.block.push_back(block);
  }
}

void count_methods_of_districts(City& city) {
  auto& counts = city.districts.methods;
  std::fill(counts.begin(), counts.end(), 0);
  for (std::size_t block = 0; block < city.blocks.name.size(); ++block)
    counts[city.blocks.district[block]] += city.blocks.methods[block];
  for (auto row = counts.size(); row-- > 1;) counts[city.districts.parent[row]] += counts[row];
}

// From lengths within districts to lengths within the city.
void measure(City& city) {
  const auto rect_in = [&](const CityPart& part) -> CityRect {
    if (part.parent == kNoCityRow) return {0, 0, part.width, part.depth};
    const CityRect& around = city.districts.rect[part.parent];
    return {around.x + part.x, around.y + part.y, part.width, part.depth};
  };
  city.districts.rect.resize(city.district_parts.size());
  for (std::size_t row = 0; row < city.district_parts.size(); ++row)
    city.districts.rect[row] = rect_in(city.district_parts[row]);
  city.blocks.rect.resize(city.block_parts.size());
  for (std::size_t row = 0; row < city.block_parts.size(); ++row)
    city.blocks.rect[row] = rect_in(city.block_parts[row]);
  CityPlots& plots = city.plots;
  plots.x.resize(plots.block.size());
  plots.y.resize(plots.block.size());
  for (std::size_t row = 0; row < plots.block.size(); ++row) {
    const auto block = plots.block[row];
    const CityRect& rect = city.blocks.rect[block];
    const auto columns = city.blocks.columns[block];
    plots.x[row] = rect.x + kBlockEdge + plots.place[row] % columns * kCityPitch;
    plots.y[row] = rect.y + kBlockEdge + plots.place[row] / columns * kCityPitch;
  }
  city.width = city.district_parts[0].width;
  city.depth = city.district_parts[0].depth;
}

// Gives each plot its place in its block: by name, then signature, then as given.
void order_plots(City& city, std::span<const CityMethod> methods) {
  std::vector<std::uint32_t> order(methods.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (city.plots.block[a] != city.plots.block[b]) return city.plots.block[a] < city.plots.block[b];
    if (const int by_name = methods[a].name.compare(methods[b].name); by_name != 0) return by_name < 0;
    if (const int by_signature = methods[a].signature.compare(methods[b].signature); by_signature != 0)
      return by_signature < 0;
    return a < b;
  });
  city.plots.place.resize(methods.size());
  for (const auto row : order) city.plots.place[row] = city.blocks.methods[city.plots.block[row]]++;
}

PartId id_of(std::uint32_t part) {
  return {(part & kBlockBit) != 0 ? PartKind::block : PartKind::district, part & ~kBlockBit};
}

Size place_all(City& city, std::uint32_t district, std::span<const std::uint32_t> parts,
               std::uint32_t limit) {
  city.shelves[district] = {.limit = limit};
  for (const auto part : parts) {
    CityPart& of = part_of(city, id_of(part));
    of.room_width = of.room_depth = 0;
    place_at_end(city, id_of(part));
  }
  return size_of_district(city.shelves[district]);
}

// Places the parts of a district, all of a known size.
void arrange_district(City& city, std::uint32_t district) {
  auto& parts = city.parts[district];
  const auto methods_of = [&](std::uint32_t part) {
    return (part & kBlockBit) != 0 ? city.blocks.methods[part & ~kBlockBit] : city.districts.methods[part];
  };
  const auto name_of = [&](std::uint32_t part) -> const std::string& {
    return (part & kBlockBit) != 0 ? city.blocks.name[part & ~kBlockBit] : city.districts.name[part];
  };
  std::sort(parts.begin(), parts.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (methods_of(a) != methods_of(b)) return methods_of(a) > methods_of(b);
    if (const int by_name = name_of(a).compare(name_of(b)); by_name != 0) return by_name < 0;
    return (a & kBlockBit) > (b & kBlockBit);
  });
  std::uint64_t area = 0;
  std::uint32_t widest = 0;
  for (const auto part : parts) {
    const CityPart& of = part_of(city, id_of(part));
    area += std::uint64_t{of.width + kBetween} * (of.depth + kBetween);
    widest = std::max(widest, of.width);
  }
  // Several widths are tried: which one leaves the least room free depends on how the parts fall.
  constexpr std::uint32_t kWidths[] = {16, 18, 20, 22, 25, 28};  // sixteenths of a square's side
  const auto side = root_of(area);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t best = side;
  for (const auto width : kWidths) {
    const auto limit = std::max(widest, side / 16 * width + side % 16 * width / 16);
    const auto size = place_all(city, district, parts, limit);
    // Of the same area, what is nearer to a square.
    const auto longer = std::max(size.width, size.depth);
    const auto cost = std::uint64_t{size.width} * size.depth + std::uint64_t{longer} * longer / 2;
    if (cost < least) {
      least = cost;
      best = limit;
    }
  }
  set_size(city.district_parts[district], place_all(city, district, parts, best));
}

bool fits_room(const CityPart& part, Size size) {
  return size.width <= part.room_width && size.depth <= part.room_depth;
}

// Of the part that was placed last: nothing is above it or to its right.
bool may_spread(City& city, PartId id, Size size) {
  const CityPart& part = part_of(city, id);
  const CityShelves& shelves = city.shelves[part.parent];
  return shelves.last == packed(id) && part.x - kDistrictEdge + size.width <= shelves.limit;
}

// A part has become larger: in its room, in what is free behind the last one, or at the end. True: the
// district around it has grown.
bool settle(City& city, PartId id, Size size) {
  CityPart& part = part_of(city, id);
  CityShelves& shelves = city.shelves[part.parent];
  const auto before = size_of_district(shelves);
  const bool fits = fits_room(part, size);
  if (!fits && may_spread(city, id, size)) {
    const auto bottom = part.y - kDistrictEdge - shelves.y;
    part.room_width = std::max(part.room_width, size.width);
    part.room_depth = std::max(part.room_depth, size.depth);
    shelves.column_width = std::max(shelves.column_width, part.room_width);
    shelves.filled = bottom + part.room_depth;
    shelves.height = std::max(shelves.height, shelves.filled);
    shelves.width = std::max(shelves.width, shelves.column + shelves.column_width);
    set_size(part, size);
  } else if (!fits) {
    set_size(part, size);
    // What has moved once may grow by half before it moves again.
    part.room_width = size.width + size.width / 2;
    part.room_depth = size.depth + size.depth / 2;
    shelves.limit = std::max(shelves.limit, part.room_width);
    place_at_end(city, id);
  } else {
    set_size(part, size);
  }
  const auto after = size_of_district(shelves);
  return after.width != before.width || after.depth != before.depth;
}

void grow_district(City& city, std::uint32_t district) {
  for (auto at = district;;) {
    auto size = size_of_district(city.shelves[at]);
    if (at == 0) {
      set_size(city.district_parts[0], size);
      return;
    }
    // What has to move takes no more room than it needs.
    if (!fits_room(city.district_parts[at], size) && !may_spread(city, {PartKind::district, at}, size)) {
      arrange_district(city, at);
      size = size_of_district(city.shelves[at]);
    }
    if (!settle(city, {PartKind::district, at}, size)) return;
    at = city.districts.parent[at];
  }
}

// A part that is new to its district.
void place_new(City& city, PartId id, Size size) {
  CityPart& part = part_of(city, id);
  set_size(part, size);
  CityShelves& shelves = city.shelves[part.parent];
  shelves.limit = std::max(shelves.limit, size.width);
  city.parts[part.parent].push_back(packed(id));
  place_at_end(city, id);
}

}  // namespace

City arrange_city(std::span<const CityMethod> methods, std::string_view separator) {
  City city;
  city.separator = separator;
  add_district(city, kNoCityRow, "");
  city.plots.block.reserve(methods.size());
  join_blocks(city, methods, 0);
  order_plots(city, methods);
  count_methods_of_districts(city);
  for (std::size_t block = 0; block < city.blocks.name.size(); ++block) {
    city.blocks.columns[block] = columns_for(city.blocks.methods[block]);
    set_size(city.block_parts[block], size_of_block(city.blocks.columns[block], city.blocks.methods[block]));
  }
  for (std::uint32_t row = 1; row < city.districts.name.size(); ++row)
    city.parts[city.districts.parent[row]].push_back(row);
  for (std::uint32_t row = 0; row < city.blocks.name.size(); ++row)
    city.parts[city.blocks.district[row]].push_back(row | kBlockBit);
  // A district comes after the one around it: from the last on, all parts of each have their size.
  for (auto district = static_cast<std::uint32_t>(city.districts.name.size()); district-- > 0;)
    arrange_district(city, district);
  measure(city);
  return city;
}

void extend_city(City& city, std::span<const CityMethod> methods) {
  const auto known_plots = city.plots.block.size();
  const auto known_blocks = city.blocks.name.size();
  const auto known_districts = city.districts.name.size();
  assert(methods.size() >= known_plots && !city.shelves.empty());
  join_blocks(city, methods, known_plots);
  // Blocks that grow or are new, in the order of the methods that make them so.
  std::vector<std::uint32_t> grown;
  std::vector<std::uint8_t> seen(city.blocks.name.size(), 0);
  for (auto row = known_plots; row < methods.size(); ++row) {
    const auto block = city.plots.block[row];
    city.plots.place.push_back(city.blocks.methods[block]++);
    if (seen[block] == 0) grown.push_back(block);
    seen[block] = 1;
  }
  std::vector<std::uint8_t> placed(city.districts.name.size(), 0);
  std::fill(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(known_districts), std::uint8_t{1});
  for (const auto block : grown) {
    const auto count = city.blocks.methods[block];
    const auto district = city.blocks.district[block];
    if (block < known_blocks) {
      if (count > 2 * city.blocks.columns[block] * city.blocks.columns[block])
        city.blocks.columns[block] = columns_for(count);
      if (settle(city, {PartKind::block, block}, size_of_block(city.blocks.columns[block], count)))
        grow_district(city, district);
      continue;
    }
    city.blocks.columns[block] = columns_for(count);
    place_new(city, {PartKind::block, block}, size_of_block(city.blocks.columns[block], count));
    // Districts that are new have their place with the first block in them.
    auto at = district;
    while (placed[at] == 0) {
      placed[at] = 1;
      const auto around = city.districts.parent[at];
      place_new(city, {PartKind::district, at}, size_of_district(city.shelves[at]));
      at = around;
    }
    grow_district(city, at);
  }
  count_methods_of_districts(city);
  measure(city);
}

}  // namespace profd
