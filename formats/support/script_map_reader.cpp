#include "formats/support/script_map_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"

namespace profd {
namespace {

constexpr std::int64_t kMostPlaces = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kJsonDepth = 64;

// By byte: the six bits of a base64 digit, or -1.
constexpr std::array<std::int8_t, 256> kDigits = [] {
  std::array<std::int8_t, 256> out{};
  out.fill(-1);
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    out[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  return out;
}();

// A map without sections, and the part of the generated script that is its own: [line:column, end).
struct Piece {
  std::uint64_t at = 0;  // of its object in the text
  std::uint32_t json_depth = 0, depth = 0;
  std::int64_t line = 0, column = 0;
  std::int64_t end_line = kMostPlaces + 1, end_column = 0;

  [[nodiscard]] bool holds(std::int64_t of_line, std::int64_t of_column) const {
    return of_line != end_line ? of_line < end_line : of_column < end_column;
  }
};

class MapReading {
 public:
  MapReading(std::string_view text, std::uint64_t base, const ScriptMapLimits& limits)
      : limits_(limits), in_(text, kJsonDepth, base) {}

  Result<ScriptMap> run() && {
    JsonCursor whole = in_;
    const Piece all{whole.offset(), 0};
    whole.skip();
    PROFD_CHECK(whole.finish());
    // Pieces are taken from the end: sections are put there last to first.
    open_.push_back(all);
    while (!open_.empty()) {
      const Piece piece = open_.back();
      open_.pop_back();
      PROFD_CHECK(read(piece));
    }
    return std::move(out_);
  }

 private:
  tl::unexpected<Error> wrong(std::uint64_t at, std::string message) const {
    return fail(ErrorCode::malformed, std::move(message), at);
  }

  Result<void> read(const Piece& piece) {
    first_source_ = out_.sources.size();
    first_name_ = out_.names.size();
    std::optional<std::uint64_t> mappings, sections, ignored, old_ignored;
    std::optional<std::int64_t> version;
    std::string root;
    std::vector<std::string> sources, contents;
    JsonCursor in = in_;
    in.seek(piece.at, piece.json_depth);
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      const std::uint64_t at = in.offset();
      if (key == "version" && kind == JsonKind::number) {
        version = in.integer();
      } else if (key == "sourceRoot" && kind == JsonKind::string) {
        root = in.string();
      } else if (key == "sources" && kind == JsonKind::array) {
        PROFD_CHECK(read_texts(in, first_source_, sources));
      } else if (key == "sourcesContent" && kind == JsonKind::array) {
        PROFD_CHECK(read_texts(in, first_source_, contents));
      } else if (key == "names" && kind == JsonKind::array) {
        std::vector<std::string> names;
        PROFD_CHECK(read_texts(in, first_name_, names));
        out_.names.resize(first_name_);
        std::move(names.begin(), names.end(), std::back_inserter(out_.names));
      } else {
        if (key == "mappings" && kind == JsonKind::string) mappings = at;
        if (key == "sections" && kind == JsonKind::array) sections = at;
        if (key == "ignoreList" && kind == JsonKind::array) ignored = at;
        if (key == "x_google_ignoreList" && kind == JsonKind::array) old_ignored = at;
        in.skip();
      }
    }
    PROFD_CHECK(in.status());
    if (version != 3) return wrong(piece.at, "a source map of version 3 begins with \"version\": 3");
    if (sections) return read_sections(*sections, piece);
    if (!mappings) return wrong(piece.at, "the source map has no mappings");
    add_sources(root, sources);
    contents.resize(sources.size());
    std::move(contents.begin(), contents.end(), std::back_inserter(out_.contents));
    if (ignored || old_ignored)
      PROFD_CHECK(read_ignored(ignored.value_or(old_ignored.value_or(0)), piece.json_depth + 1));
    in.seek(*mappings, piece.json_depth + 1);
    const std::string_view text = in.string();
    PROFD_CHECK(in.status());
    return decode(text, *mappings + 1, piece);
  }

  // An array of strings; null is "".
  Result<void> read_texts(JsonCursor& in, std::size_t n_before, std::vector<std::string>& texts) {
    texts.clear();
    for (in.begin_array(); in.next_element();) {
      if (n_before + texts.size() >= limits_.n_texts)
        return fail(ErrorCode::limit, fmt::format("more than {} names or sources", limits_.n_texts),
                    in.offset());
      if (in.kind() == JsonKind::string) {
        texts.emplace_back(in.string());
      } else {
        texts.emplace_back();
        in.skip();
      }
    }
    return in.status();
  }

  void add_sources(std::string_view root, const std::vector<std::string>& sources) {
    for (const std::string& source : sources) {
      const bool joined = !root.empty() && !source.empty() && source.front() != '/' &&
                          source.find("://") == std::string::npos;
      std::string path;
      if (joined) {
        path = root;
        if (!path.ends_with('/')) path += '/';
      }
      out_.sources.push_back(std::move(path) + source);
    }
    out_.third_party.resize(out_.sources.size(), 0);
  }

  Result<void> read_ignored(std::uint64_t at, std::uint32_t json_depth) {
    JsonCursor in = in_;
    in.seek(at, json_depth);
    for (in.begin_array(); in.next_element();) {
      const std::uint64_t here = in.offset();
      const std::int64_t source = in.integer();
      PROFD_CHECK(in.status());
      if (source < 0 || static_cast<std::uint64_t>(source) >= out_.sources.size() - first_source_)
        return wrong(here, "the list of sources to ignore names one that is not in the map");
      out_.third_party[first_source_ + static_cast<std::size_t>(source)] = 1;
    }
    return in.status();
  }

  Result<void> read_sections(std::uint64_t at, const Piece& whole) {
    if (whole.depth >= limits_.section_depth)
      return fail(ErrorCode::limit, fmt::format("sections lie more than {} deep", limits_.section_depth), at);
    std::vector<Piece> pieces;
    JsonCursor in = in_;
    in.seek(at, whole.json_depth + 1);
    for (in.begin_array(); in.next_element();) {
      const std::uint64_t here = in.offset();
      if (n_sections_++ >= limits_.n_sections)
        return fail(ErrorCode::limit, fmt::format("more than {} sections", limits_.n_sections), here);
      std::optional<Piece> piece;
      std::int64_t line = -1, column = -1;
      bool elsewhere = false;
      std::string_view key;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "offset" && in.kind() == JsonKind::object) {
          for (in.begin_object(); in.next_key(key);) {
            if (key == "line")
              line = in.integer();
            else if (key == "column")
              column = in.integer();
            else
              in.skip();
          }
        } else if (key == "map" && in.kind() == JsonKind::object) {
          piece = Piece{in.offset(), in.depth(), whole.depth + 1};
          in.skip();
        } else {
          elsewhere = elsewhere || key == "url";
          in.skip();
        }
      }
      PROFD_CHECK(in.status());
      if (!piece && elsewhere)
        return fail(ErrorCode::unsupported, "a section of the source map is in another file", here);
      if (!piece || line < 0 || column < 0 || line > kMostPlaces || column > kMostPlaces)
        return wrong(here, "a section needs a map and an offset");
      piece->line = whole.line + line;
      piece->column = line == 0 ? whole.column + column : column;
      piece->end_line = whole.end_line;
      piece->end_column = whole.end_column;
      if (piece->line > kMostPlaces || piece->column > kMostPlaces)
        return wrong(here, "the offset of a section is out of range");
      if (!pieces.empty()) {
        Piece& before = pieces.back();
        if (std::pair(piece->line, piece->column) <= std::pair(before.line, before.column))
          return wrong(here, "sections are not in the order of their offsets");
        before.end_line = piece->line;
        before.end_column = piece->column;
      }
      pieces.push_back(*piece);
    }
    PROFD_CHECK(in.status());
    open_.insert(open_.end(), pieces.rbegin(), pieces.rend());
    return {};
  }

  Result<void> decode(std::string_view text, std::uint64_t at, const Piece& piece);
  void end_line(std::size_t first, bool sorted, bool opened);
  void sort_line(std::size_t first);

  ScriptMapLimits limits_;
  JsonCursor in_;
  std::vector<Piece> open_;
  std::size_t n_sections_ = 0, first_source_ = 0, first_name_ = 0;
  ScriptMap out_;
};

// One base64 VLQ; false where there is none, or one of more than 32 bits.
bool take_vlq(const char*& p, const char* end, std::int64_t& value) {
  std::uint64_t bits = 0;
  unsigned shift = 0;
  for (;; shift += 5) {
    if (p == end || shift > 30) return false;
    const int digit = kDigits[static_cast<unsigned char>(*p)];
    if (digit < 0) return false;
    ++p;
    bits |= static_cast<std::uint64_t>(digit & 31) << shift;
    if ((digit & 32) == 0) break;
  }
  const auto size = static_cast<std::int64_t>(bits >> 1);
  value = (bits & 1) != 0 ? -size : size;
  return size <= kMostPlaces;
}

// Segments of a line whose columns were not written in order are put in it. `opened`: the first one says that
// nothing is known from where a section begins, unless one of the section's own stands there.
void MapReading::end_line(std::size_t first, bool sorted, bool opened) {
  if (!sorted) sort_line(first);
  if (!opened || out_.size() < first + 2 || out_.column[first] != out_.column[first + 1]) return;
  const auto at = static_cast<std::ptrdiff_t>(first);
  for (auto* column :
       {&out_.line, &out_.column, &out_.source, &out_.source_line, &out_.source_column, &out_.name})
    column->erase(column->begin() + at);
}

void MapReading::sort_line(std::size_t first) {
  std::vector<std::uint32_t> order(out_.size() - first);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(first));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return out_.column[a] < out_.column[b]; });
  std::vector<std::uint32_t> moved(order.size());
  for (auto* column : {&out_.column, &out_.source, &out_.source_line, &out_.source_column, &out_.name}) {
    for (std::size_t i = 0; i < order.size(); ++i) moved[i] = (*column)[order[i]];
    std::copy(moved.begin(), moved.end(), column->begin() + static_cast<std::ptrdiff_t>(first));
  }
}

Result<void> MapReading::decode(std::string_view text, std::uint64_t at, const Piece& piece) {
  const char* p = text.data();
  const char* const end = p + text.size();
  const auto add = [&](std::int64_t line, std::int64_t column, std::uint32_t source, std::int64_t source_line,
                       std::int64_t source_column, std::uint32_t name) {
    out_.line.push_back(static_cast<std::uint32_t>(line));
    out_.column.push_back(static_cast<std::uint32_t>(column));
    out_.source.push_back(source);
    out_.source_line.push_back(static_cast<std::uint32_t>(source_line));
    out_.source_column.push_back(static_cast<std::uint32_t>(source_column));
    out_.name.push_back(name);
  };
  // What is before a section's first segment is none of the section before.
  const bool is_section = piece.line != 0 || piece.column != 0;
  if (is_section) add(piece.line, piece.column, kNone, 0, 0, kNone);

  std::int64_t line = 0, column = 0, source = 0, source_line = 0, source_column = 0, name = 0;
  std::size_t first = is_section ? out_.size() - 1 : out_.size();
  bool sorted = true;
  const auto n_sources = static_cast<std::int64_t>(out_.sources.size() - first_source_);
  const auto n_names = static_cast<std::int64_t>(out_.names.size() - first_name_);
  const auto here = [&] { return at + static_cast<std::uint64_t>(p - text.data()); };
  while (p != end) {
    if (*p == ';') {
      end_line(first, sorted, is_section && line == 0);
      first = out_.size();
      sorted = true;
      ++line;
      column = 0;
      ++p;
      continue;
    }
    if (*p == ',') {
      ++p;
      continue;
    }
    std::array<std::int64_t, 5> fields{};
    std::size_t n = 0;
    for (; p != end && *p != ',' && *p != ';'; ++n) {
      if (n == fields.size() || !take_vlq(p, end, fields[n]))
        return wrong(here(), "the mappings of the source map cannot be decoded");
    }
    if (n != 1 && n < 4) return wrong(here(), fmt::format("a segment of {} fields in the mappings", n));
    column += fields[0];
    if (n > 1) {
      source += fields[1];
      source_line += fields[2];
      source_column += fields[3];
    }
    if (n > 4) name += fields[4];
    const auto out_of_range = [](std::int64_t value, std::int64_t limit) {
      return value < 0 || value >= limit;
    };
    const std::int64_t made_line = piece.line + line,
                       made_column = line == 0 ? piece.column + column : column;
    if (out_of_range(column, kMostPlaces) || made_line >= kMostPlaces || made_column >= kMostPlaces ||
        (n > 1 && (out_of_range(source, n_sources) || out_of_range(source_line, kMostPlaces) ||
                   out_of_range(source_column, kMostPlaces))) ||
        (n > 4 && out_of_range(name, n_names)))
      return wrong(here(), "a segment of the mappings is out of range");
    if (!piece.holds(made_line, made_column)) continue;
    if (out_.size() >= limits_.n_segments)
      return fail(ErrorCode::limit, fmt::format("more than {} segments", limits_.n_segments), here());
    sorted = sorted && (out_.size() == first || out_.column.back() <= made_column);
    const std::size_t row = first_source_ + static_cast<std::size_t>(source);
    const bool known = n > 1 && !out_.sources[row].empty();
    add(made_line, made_column, known ? static_cast<std::uint32_t>(row) : kNone, known ? source_line : 0,
        known ? source_column : 0,
        n > 4 ? static_cast<std::uint32_t>(first_name_ + static_cast<std::size_t>(name)) : kNone);
  }
  end_line(first, sorted, is_section && line == 0);
  return {};
}

}  // namespace

Result<ScriptMap> read_script_map(std::string_view text, const ScriptMapLimits& limits) {
  std::uint64_t base = 0;
  if (text.starts_with("\xEF\xBB\xBF")) base = 3;
  // A line that keeps the map from being run as a script.
  if (text.substr(base).starts_with(")]}'")) {
    const std::size_t end = text.find('\n', base);
    base = end == std::string_view::npos ? text.size() : end + 1;
  }
  return MapReading(text.substr(base), base, limits).run();
}

}  // namespace profd
