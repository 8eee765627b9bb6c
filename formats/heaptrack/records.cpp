#include "formats/heaptrack/records.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/hash.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"

namespace profd::heaptrack {
namespace {

constexpr std::uint64_t kNewestFileVersion = 3;

// Hexadecimal numbers separated by blanks.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

  bool next(std::uint64_t& value) {
    while (p_ < end_ && *p_ == ' ') ++p_;
    const char* const begin = p_;
    std::uint64_t result = 0;
    for (; p_ < end_; ++p_) {
      const int digit = digit_of(*p_);
      if (digit < 0) break;
      result = result << 4 | static_cast<std::uint64_t>(digit);
    }
    if (p_ == begin || p_ - begin > 16 || (p_ < end_ && *p_ != ' ')) return false;
    value = result;
    return true;
  }
  bool next(std::uint32_t& value) {
    std::uint64_t wide;
    if (!next(wide) || wide > 0xFFFFFFFFu) return false;
    value = static_cast<std::uint32_t>(wide);
    return true;
  }
  bool done() {
    while (p_ < end_ && *p_ == ' ') ++p_;
    return p_ == end_;
  }
  const char* at() const { return p_; }

 private:
  static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }
  const char* p_;
  const char* end_;
};

class Reading {
 public:
  Reading(const ByteSource& source, ReadContext& context)
      : source_(source), context_(context), lines_(source.text()) {}

  Result<Records> run() {
    PROFD_CHECK(each_line(lines_, context_, {.cut_off = source_.truncated()},
                          [&](std::string_view line) -> Result<void> {
                            if (line.empty() || line[0] == '#') return {};
                            if (!lines_.ended() && context_.partial && line.size() < 2) return {};
                            return read_line(line);
                          }));
    context_.report.add("malformed-line", Severity::loss, "lines that are no record were not read",
                        first_malformed_, n_malformed_);
    context_.report.add("unknown-free", Severity::info,
                        "frees of memory that was allocated before the recording were not counted",
                        std::nullopt, n_unknown_frees_);
    if (records_.version == 0) return fail(ErrorCode::malformed, "there is no version line", 0);
    return std::move(records_);
  }

 private:
  tl::unexpected<Error> bad(std::string message) const {
    return fail(ErrorCode::malformed, std::move(message), lines_.offset());
  }
  void malformed() {
    if (n_malformed_++ == 0) first_malformed_ = lines_.offset();
  }

  Result<void> read_line(std::string_view line) {
    if (line.size() < 2 || line[1] != ' ') {
      if (line[0] != 'A') malformed();
      if (line[0] == 'A') attach();
      return {};
    }
    Numbers in(line.substr(2));
    switch (line[0]) {
      case '+':
        return read_allocation(in);
      case '-':
        return read_free(in);
      case 'a':
        return read_info(in);
      case 't':
        return read_trace(in);
      case 'i':
        return read_pointer(in);
      case 's':
        return read_string(line);
      case 'c': {
        std::uint64_t ms;
        if (in.next(ms) && ms < (1ull << 43))
          records_.last_ms = static_cast<std::int64_t>(ms);
        else
          malformed();
        return {};
      }
      case 'R': {
        std::uint64_t pages;
        if (in.next(pages))
          records_.peak_rss_pages = std::max(records_.peak_rss_pages, pages);
        else
          malformed();
        return {};
      }
      case 'X':
        records_.command = line.substr(2);
        return {};
      case 'x':
        records_.raw = true;
        if (auto text = sized(line, in)) executable_ = *text;
        return {};
      case 'm':
        return read_module(line, in);
      case 'v':
        return read_version(in);
      case 'I':
        if (!in.next(records_.page_size) || !in.next(records_.pages)) malformed();
        return {};
      case 'S':
        records_.suppressions.push_back(line.substr(2));
        return {};
      case 'A':
        attach();
        return {};
      default:
        malformed();
        return {};
    }
  }

  // Everything before belongs to the attaching, not to the program.
  void attach() {
    records_.attached = true;
    records_.events.clear();
  }

  Result<void> read_version(Numbers& in) {
    if (!in.next(records_.version)) return bad("the version is no number");
    // 1.2.0 was announced while the file version was not yet written.
    if (!in.next(records_.file_version)) records_.file_version = records_.version == 0x10200 ? 1 : 0;
    if (records_.file_version > kNewestFileVersion)
      return fail(ErrorCode::unsupported,
                  fmt::format("heaptrack file version {} is newer than {}, the newest known",
                              records_.file_version, kNewestFileVersion),
                  lines_.offset());
    return {};
  }

  // "LENGTH text" from version 3 on, where the text may hold line ends; else the rest of the line.
  std::optional<std::string_view> sized(std::string_view line, Numbers& in) {
    if (records_.file_version < 3) return line.substr(2);
    std::uint64_t length;
    if (!in.next(length)) return std::nullopt;
    const std::string_view text = source_.text();
    const std::size_t begin = static_cast<std::size_t>(in.at() - text.data()) + 1;
    if (begin > text.size() || length > text.size() - begin) return std::nullopt;
    const std::size_t end = begin + length;
    if (end > lines_.position()) lines_.skip_line_at(end);
    return text.substr(begin, length);
  }

  Result<void> read_string(std::string_view line) {
    Numbers in(line.substr(2));
    const auto text = sized(line, in);
    if (!text) {
      if (context_.partial || source_.truncated()) {
        malformed();
        records_.strings.emplace_back();
        return {};
      }
      return bad("the length of a string is no number or beyond the end of the file");
    }
    records_.strings.push_back(*text);
    return {};
  }

  Result<void> read_pointer(Numbers& in) {
    std::uint64_t address;
    std::uint32_t module = 0;
    if (!in.next(address)) return bad("an instruction pointer has no address");
    if (!in.next(module) && !in.done()) return bad("the module of an instruction pointer is no number");
    records_.ip_address.push_back(address);
    records_.ip_module.push_back(module);
    Place place;
    while (in.next(place.function)) {
      place.file = place.line = 0;
      if (in.next(place.file)) in.next(place.line);
      records_.places.push_back(place);
    }
    if (!in.done()) return bad("a place of an instruction pointer is no number");
    records_.ip_places.push_back(static_cast<std::uint32_t>(records_.places.size()));
    return {};
  }

  Result<void> read_trace(Numbers& in) {
    std::uint64_t ip;
    std::uint32_t parent;
    if (!in.next(ip) || !in.next(parent)) return bad("a trace is no pair of numbers");
    if (parent > records_.trace_ip.size()) return bad("a trace comes before its parent");
    if (records_.raw) {
      const auto [at, is_new] =
          raw_ips_.try_emplace(ip, static_cast<std::uint32_t>(records_.ip_address.size() + 1));
      if (is_new) {
        // In a module the address is the one in its file, which is the same in every run.
        const Records::Module* const module = module_of(ip);
        records_.ip_address.push_back(module ? ip - module->base : ip);
        records_.ip_module.push_back(module ? module->name : 0);
        records_.ip_places.push_back(static_cast<std::uint32_t>(records_.places.size()));
      }
      ip = at->second;
    }
    if (ip > records_.ip_address.size()) return bad("a trace comes before its instruction pointer");
    records_.trace_ip.push_back(static_cast<std::uint32_t>(ip));
    records_.trace_parent.push_back(parent);
    return {};
  }

  Result<void> read_info(Numbers& in) {
    std::uint64_t size;
    std::uint32_t trace;
    if (!in.next(size) || !in.next(trace)) return bad("an allocation is no pair of numbers");
    return add_info(size, trace);
  }
  Result<void> add_info(std::uint64_t size, std::uint32_t trace) {
    if (trace > records_.trace_ip.size()) return bad("an allocation comes before its trace");
    if (size > INT64_MAX) return bad("an allocation is larger than memory can be");
    if (records_.info_size.size() >= Records::kKind)
      return fail(ErrorCode::limit, "more than 1,073,741,823 kinds of allocations", lines_.offset());
    records_.info_size.push_back(size);
    records_.info_trace.push_back(trace);
    return {};
  }

  // Raw files and file version 0 name sizes, traces and pointers; later ones the kind of allocation.
  bool by_pointer() const { return records_.raw || records_.file_version == 0; }

  Result<void> read_allocation(Numbers& in) {
    if (!by_pointer()) {
      std::uint32_t info;
      if (!in.next(info) || info >= records_.info_size.size()) {
        malformed();
        return {};
      }
      last_ = info;
      records_.events.push_back(info);
      return {};
    }
    std::uint64_t size, pointer;
    std::uint32_t trace;
    if (!in.next(size) || !in.next(trace) || !in.next(pointer)) {
      malformed();
      return {};
    }
    const std::uint64_t key = hash_combine(hash_combine(0, size), trace);
    auto [at, end] = infos_.equal_range(key);
    while (at != end && (records_.info_size[at->second] != size || records_.info_trace[at->second] != trace))
      ++at;
    std::uint32_t info;
    if (at == end) {
      info = static_cast<std::uint32_t>(records_.info_size.size());
      PROFD_CHECK(add_info(size, trace));
      infos_.emplace(key, info);
    } else {
      info = at->second;
    }
    live_[pointer] = info;
    last_ = pointer;
    records_.events.push_back(info);
    return {};
  }

  Result<void> read_free(Numbers& in) {
    std::uint64_t id;
    if (!in.next(id)) {
      malformed();
      return {};
    }
    if (by_pointer()) {
      const auto found = live_.find(id);
      if (found == live_.end()) {
        ++n_unknown_frees_;
        return {};
      }
      add_free(found->second, id);
      live_.erase(found);
    } else if (id < records_.info_size.size()) {
      add_free(static_cast<std::uint32_t>(id), id);
    } else {
      malformed();
    }
    return {};
  }

  // `id`: what the file calls it. As in heaptrack, a free leaves 0 behind, so that kind 0 freed after another
  // free counts as temporary too: its numbers are to be those of heaptrack_print.
  void add_free(std::uint32_t info, std::uint64_t id) {
    records_.events.push_back(info | Records::kFree | (last_ == id ? Records::kTemporary : 0));
    last_ = 0;
  }

  // "m NAME BASE (OFFSET SIZE)…"; "-" forgets all, "x" is the program itself.
  Result<void> read_module(std::string_view line, Numbers& in) {
    records_.raw = true;
    std::string_view name;
    std::string_view rest;
    if (records_.file_version >= 3) {
      const auto text = sized(line, in);
      if (!text) return bad("the length of a module's name is no number or beyond the end of the file");
      name = *text;
      const char* const line_end = line.data() + line.size();
      const char* const name_end = name.data() + name.size();
      if (name_end < line_end) rest = {name_end, static_cast<std::size_t>(line_end - name_end)};
    } else {
      rest = line.substr(2);
      name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(name.size());
    }
    if (name == "-") {
      modules_.clear();
      return {};
    }
    records_.strings.push_back(name == "x" ? executable_ : name);
    const auto string = static_cast<std::uint32_t>(records_.strings.size());
    Numbers numbers(rest);
    std::uint64_t base, offset, size;
    if (!numbers.next(base)) return bad("a module has no address");
    while (numbers.next(offset) && numbers.next(size)) {
      const std::uint64_t begin = base + offset;
      if (begin >= base && begin + size >= begin) modules_.push_back({base, begin, begin + size, string});
    }
    sorted_ = false;
    return {};
  }

  const Records::Module* module_of(std::uint64_t address) {
    if (!sorted_) {
      std::sort(modules_.begin(), modules_.end(),
                [](const auto& a, const auto& b) { return a.begin < b.begin; });
      sorted_ = true;
    }
    auto after =
        std::upper_bound(modules_.begin(), modules_.end(), address,
                         [](std::uint64_t a, const Records::Module& module) { return a < module.begin; });
    if (after == modules_.begin()) return nullptr;
    --after;
    return address <= after->end ? &*after : nullptr;
  }

  const ByteSource& source_;
  ReadContext& context_;
  LineReader lines_;
  Records records_;
  std::string_view executable_;
  std::vector<Records::Module> modules_;
  bool sorted_ = true;
  std::unordered_map<std::uint64_t, std::uint32_t> raw_ips_;
  std::unordered_map<std::uint64_t, std::uint32_t> live_;        // pointer -> kind of allocation
  std::unordered_multimap<std::uint64_t, std::uint32_t> infos_;  // hash of size and trace
  std::uint64_t last_ = 0;  // the allocation right before, by kind or by pointer
  std::uint64_t n_malformed_ = 0, first_malformed_ = 0, n_unknown_frees_ = 0;
};

}  // namespace

Result<Records> read_records(const ByteSource& source, ReadContext& context) {
  return Reading(source, context).run();
}

}  // namespace profd::heaptrack
