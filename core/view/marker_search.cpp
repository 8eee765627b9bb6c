#include "core/view/marker_search.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/support/text.h"

namespace profd {
namespace {

constexpr std::size_t kMaxWords = 20;

bool parts_words(char ch) {
  return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  for (char& ch : out)
    if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch | 0x20);
  return out;
}

// The next word without its quotes; what stands in quotes begins no key and no expression.
struct RawWord {
  std::string text;
  std::size_t plain = 0;  // characters before the first quote
};
Result<RawWord> next_word(std::string_view text, std::size_t& at) {
  RawWord word;
  bool in_quotes = false, quoted = false, in_slashes = false;
  for (; at < text.size(); ++at) {
    const char ch = text[at];
    if (ch == '"' && !in_slashes) {
      in_quotes = !in_quotes;
      if (!quoted) word.plain = word.text.size();
      quoted = true;
      continue;
    }
    if (!in_quotes && !in_slashes && parts_words(ch)) break;
    if (!quoted && ch == '/' && (word.text.empty() || word.text == "-" || word.text.ends_with(':')))
      in_slashes = text.find('/', at + 1) != std::string_view::npos;
    else if (in_slashes && ch == '/')
      in_slashes = false;
    word.text += ch;
  }
  if (in_quotes) return fail(ErrorCode::invalid, "search: a quote is not closed");
  if (!quoted) word.plain = word.text.size();
  return word;
}

// The characters before the colon of `type:load`, which is no part of a name or an address; 0: there are
// none.
std::size_t key_length(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view rest = word.substr(colon + 1);
  return rest.starts_with(':') || rest.starts_with("//") ? 0 : colon;
}

std::string expression_of(std::string_view text) {
  return text.find_first_of("\\.+*?()|[]{}^$") == std::string_view::npos
             ? std::string(text)
             : RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
}

// Remembers what was found out about a row, 0 for nothing yet.
class Known {
 public:
  explicit Known(std::size_t n) : known_(n, 0) {}
  template <class Decide>
  bool at(std::size_t row, Decide decide) {
    std::uint8_t& is = known_[row];
    if (is == 0) is = decide() ? 2 : 1;
    return is == 2;
  }

 private:
  std::vector<std::uint8_t> known_;
};

}  // namespace

std::string field_text(const Profile& profile, std::size_t entry) {
  const LabelTable& labels = profile.labels();
  if (labels.is_number[entry] == 0) return std::string(profile.strings()[labels.text[entry]]);
  const std::string_view unit = profile.strings()[labels.unit[entry]];
  return unit.empty() ? std::to_string(labels.number[entry])
                      : fmt::format("{} {}", labels.number[entry], unit);
}

Result<MarkerSearch> MarkerSearch::parse(std::string_view text) {
  MarkerSearch out;
  for (std::size_t at = 0; at < text.size();) {
    if (parts_words(text[at])) {
      ++at;
      continue;
    }
    PROFD_TRY(RawWord raw, next_word(text, at));
    std::string_view rest = raw.text;
    std::size_t plain = raw.plain;
    const auto take = [&](std::size_t n) {
      rest.remove_prefix(n);
      plain = plain > n ? plain - n : 0;
    };
    Word word;
    if (plain > 1 && rest[0] == '-') {
      word.wanted = false;
      take(1);
    }
    const std::size_t key_size = plain > 0 && rest[0] == '/' ? 0 : key_length(rest.substr(0, plain));
    if (key_size > 0) {
      constexpr std::array<std::pair<std::string_view, In>, 4> kKeys{
          {{"name", In::name}, {"category", In::category}, {"thread", In::thread}, {"process", In::process}}};
      word.in = In::field;
      word.key = in_lower_case(rest.substr(0, key_size));
      for (const auto& [name, in] : kKeys)
        if (word.key == name) word.in = in;
      take(key_size + 1);
    }
    if (rest.empty()) continue;
    const bool is_expression = plain > 1 && rest.size() > 1 && rest.front() == '/' && rest.back() == '/';
    PROFD_TRY(word.pattern, Pattern::compile(is_expression ? std::string(rest.substr(1, rest.size() - 2))
                                                           : expression_of(rest),
                                             true, true));
    if (out.words_.size() == kMaxWords)
      return fail(ErrorCode::limit, fmt::format("a search for markers has at most {} words", kMaxWords));
    out.words_.push_back(std::move(word));
  }
  return out;
}

Result<std::vector<std::uint8_t>> MarkerSearch::matches(const Profile& profile, const Markers& markers,
                                                        StopToken stop) const {
  std::vector<std::uint8_t> out(markers.size(), 1);
  const StringTable& strings = profile.strings();
  const LabelTable& labels = profile.labels();
  const ThreadTable& threads = profile.threads();
  // Sets of fields are looked at in their order, each once, which is several times as fast as in that of the
  // markers that have them.
  std::vector<std::uint8_t> used(labels.n_sets(), 0);
  for (std::uint32_t id = 0; id < out.size(); ++id)
    if (const std::uint32_t set = markers.label_set(id); set != 0) used[set] = 1;
  for (const Word& word : words_) {
    Known texts(strings.size()), keys(strings.size()), of_threads(threads.size() + 1);
    const auto says = [&](StringId text) {
      return texts.at(text.v, [&] { return word.pattern.matches(strings[text], stop); });
    };
    const auto is_key = [&](StringId key) {
      return word.in == In::anywhere ||
             keys.at(key.v, [&] { return in_lower_case(strings[key]) == word.key; });
    };
    std::vector<std::uint8_t> of_sets;
    if (word.in == In::anywhere || word.in == In::field) of_sets.resize(used.size(), 0);
    for (std::uint32_t set = 1; set < of_sets.size(); ++set) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (used[set] == 0) continue;
      for (std::uint32_t entry = labels.first[set]; entry < labels.first[set + 1] && of_sets[set] == 0;
           ++entry)
        of_sets[set] = is_key(labels.key[entry]) && (labels.is_number[entry] != 0
                                                         ? word.pattern.matches(field_text(profile, entry))
                                                         : says(labels.text[entry]))
                           ? 1
                           : 0;
    }
    const auto has_field = [&](std::uint32_t set) { return set != 0 && of_sets[set] != 0; };
    const auto of_thread = [&](std::uint32_t thread) {
      return thread != kNone && of_threads.at(thread, [&] {
        const bool process = word.in == In::process;
        const std::int64_t number = process ? threads.pid[thread] : threads.tid[thread];
        return says(process ? threads.process_name[thread] : threads.name[thread]) ||
               (number >= 0 && word.pattern.matches(std::to_string(number)));
      });
    };
    const auto is_meant = [&](std::uint32_t id) {
      switch (word.in) {
        case In::name:
          return says(markers.name(id));
        case In::category:
          return says(markers.category(id));
        case In::thread:
        case In::process:
          return of_thread(markers.thread(id));
        case In::field:
          return has_field(markers.label_set(id));
        case In::anywhere:
          break;
      }
      return says(markers.name(id)) || says(markers.category(id)) || has_field(markers.label_set(id));
    };
    for (std::uint32_t id = 0; id < out.size(); ++id) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (out[id] != 0 && is_meant(id) != word.wanted) out[id] = 0;
    }
  }
  return out;
}

}  // namespace profd
