// The city of a live program: packages are districts, classes blocks in them, methods plots of one size in
// these. Places follow from the structure alone, never from what runs, so they stand still while it runs.
// What becomes known later goes to the end of its block and its district; what does not fit there moves, and
// nothing else does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profd {

// Lengths of the city are whole numbers. Plots are kCityPlot squares, one each kCityPitch.
inline constexpr std::uint32_t kCityPlot = 3;
inline constexpr std::uint32_t kCityPitch = 4;
// Districts deeper than this are one with that in which they lie: their names are joined.
inline constexpr std::uint32_t kCityDepth = 48;

inline constexpr std::uint32_t kNoCityRow = 0xFFFFFFFFu;

// What the layout is made of. The texts are looked at during the call alone.
struct CityMethod {
  std::string_view package;    // elements, outermost first, between separators; empty: the root
  std::string_view type;       // class; may be empty
  std::string_view name;       // of the method
  std::string_view signature;  // tells apart methods of one name
};

// Axis-parallel; x grows to the right and y away from the reader, so (0, 0) is the bottom left of the city.
struct CityRect {
  std::uint32_t x = 0, y = 0, width = 0, depth = 0;
  bool operator==(const CityRect&) const = default;
};

struct CityDistricts {
  std::vector<std::string> name;      // the last element of the package; that of the root is empty
  std::vector<std::uint32_t> parent;  // kNoCityRow: the root, which is row 0. A parent comes before its parts
  std::vector<std::uint32_t> level;   // 0: the root
  std::vector<std::uint32_t> methods;  // with those of the districts within
  std::vector<CityRect> rect;
};

struct CityBlocks {
  std::vector<std::string> name;
  std::vector<std::uint32_t> district;
  std::vector<std::uint32_t> columns;  // plots in a row; rows are filled from the bottom left
  std::vector<std::uint32_t> methods;
  std::vector<CityRect> rect;
};

// Row i is the method that was given as the i-th.
struct CityPlots {
  std::vector<std::uint32_t> block;
  std::vector<std::uint32_t> place;  // in the block, in the order in which its rows are filled
  std::vector<std::uint32_t> x, y;   // bottom left; kCityPlot wide and deep
};

// How the room of one district is given out: shelves from the bottom up, on them columns from the left, in
// these parts above each other. Lengths are from the district's own bottom left.
struct CityShelves {
  std::uint32_t limit = 0;                     // how wide a shelf may become
  std::uint32_t y = 0, height = 0;             // of the open shelf
  std::uint32_t column = 0, column_width = 0;  // of the open column
  std::uint32_t filled = 0;                    // of the open column
  std::uint32_t width = 0;                     // of the widest shelf
  std::uint32_t last = kNoCityRow;             // the part that was placed last
};

// A district or a block as a part of the district around it.
struct CityPart {
  std::uint32_t parent = kNoCityRow;  // a district
  std::uint32_t x = 0, y = 0;         // from the parent's bottom left
  std::uint32_t width = 0, depth = 0;
  std::uint32_t room_width = 0, room_depth = 0;  // it may grow to this and touches nothing
};

struct City {
  std::uint32_t width = 0, depth = 0;
  CityDistricts districts;
  CityBlocks blocks;
  CityPlots plots;

  // What extend_city goes on from.
  std::string separator;
  std::vector<CityPart> district_parts, block_parts;
  std::vector<std::vector<std::uint32_t>>
      parts;                         // of each district: districts, and blocks with the highest bit
  std::vector<CityShelves> shelves;  // of each district
  std::unordered_map<std::string, std::uint32_t> known;  // districts and blocks by parent, kind and name
};

// Everything anew: in a block by name and then signature, in a district by number of methods, the most first
// and at the bottom left, then by name. The same methods in the same order give the same city.
City arrange_city(std::span<const CityMethod> methods, std::string_view separator = ".");

// `methods` begins with those that the city has, in their order; the rest is new. A new method goes to the
// end of its block, a new block or district to the end of the district around it. What grows out of its room
// goes to the end likewise, with all that is in it; nothing outside of the outermost district that does so
// moves.
void extend_city(City& city, std::span<const CityMethod> methods);

}  // namespace profd
