#include "core/view/name_differences.h"

#include <algorithm>
#include <cstddef>

#include "core/view/name_scan.h"

namespace profd {
namespace {

// Names nest as deep as a file says; below this a piece is shown as it is.
constexpr int kMaxNesting = 12;
constexpr std::string_view kDots = "…";

char closer_of(char open) {
  return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : ']';
}

bool is_part_of_word(std::string_view name, std::size_t at) {
  return at > 0 && at < name.size() && is_word(name[at - 1]) && is_word(name[at]);
}

struct Piece {
  std::size_t begin = 0, end = 0;
};

// How many bytes all names begin with and end in, whole words each; together at most the shortest name.
Piece common_ends(std::span<const std::string> names) {
  const std::string_view first = names[0];
  std::size_t head = first.size(), shortest = first.size();
  for (const std::string& name : names) {
    shortest = std::min(shortest, name.size());
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(std::min(head, name.size()));
    head = static_cast<std::size_t>(std::mismatch(first.begin(), end, name.begin()).first - first.begin());
  }
  const auto cuts_head = [&](std::string_view name) { return is_part_of_word(name, head); };
  while (head > 0 && std::any_of(names.begin(), names.end(), cuts_head)) --head;
  std::size_t tail = shortest - head;
  for (const std::string& name : names) {
    std::size_t same = 0;
    while (same < tail && name[name.size() - 1 - same] == first[first.size() - 1 - same]) ++same;
    tail = same;
  }
  const auto cuts_tail = [&](std::string_view name) { return is_part_of_word(name, name.size() - tail); };
  while (tail > 0 && std::any_of(names.begin(), names.end(), cuts_tail)) --tail;
  return {head, tail};
}

bool are_parameters(std::string_view name, std::size_t i) {
  return name[i] == '(' && i > 0 && name[i - 1] != ' ' && name[i - 1] != ':' && name[i - 1] != '.';
}

// Mostly arguments of templates say it all; parameters repeat them, and so does what is returned.
std::string without_parameters(std::string_view name) {
  std::string out;
  std::size_t start = 0;  // of the name proper, when it is a template's
  bool templated = false, had_parameters = false;
  for (std::size_t i = 0; i < name.size();) {
    const char c = name[i];
    const std::size_t length = operator_length(name, i);
    std::size_t end = i + std::max<std::size_t>(length, 1);
    if (length == 0 && (c == '<' || c == '(' || c == '[')) {
      end = after_closing(name, i, c, closer_of(c));
      if (end == std::string_view::npos) return std::string(name);
      if (are_parameters(name, i)) {
        had_parameters = true;
        i = std::min(name.find("::", end), name.size());
        continue;
      }
      templated = templated || c == '<';
    }
    out += name.substr(i, end - i);
    i = end;
    if (c == ' ' && !had_parameters && !out.ends_with("operator ")) start = out.size();
  }
  return templated && had_parameters ? out.substr(start) : out;
}

// One name, of which `kept` is what the others do not have.
class Shortener {
 public:
  Shortener(std::string_view name, Piece kept) : name_(name), kept_(kept) {}

  std::string text() {
    add({0, name_.size()}, 0);
    if (unbalanced_) return std::string(name_);
    // As in short names: the return type and what a path begins with tell nothing.
    std::size_t begin = 0;
    if (templated_ && had_parameters_ && space_.end > 0 && !touches({0, space_.begin}) &&
        !std::string_view(out_).substr(0, space_.end - 1).ends_with("operator"))
      begin = space_.end;
    if (slash_.end > 0 && !touches({0, slash_.begin})) begin = slash_.end;
    return out_.substr(begin);
  }

 private:
  // A difference of nothing (one name has an argument more) touches the pieces it lies between.
  bool touches(Piece range) const { return kept_.begin <= range.end && range.begin <= kept_.end; }

  // After the first bracket that nothing closes none is looked for: a name is walked a few times, whatever is
  // in it.
  std::size_t closing(std::size_t i) {
    if (unbalanced_) return std::string_view::npos;
    const std::size_t end = after_closing(name_, i, name_[i], closer_of(name_[i]));
    unbalanced_ = end == std::string_view::npos;
    return end;
  }

  void add(Piece range, int nesting) {
    for (std::size_t i = range.begin; i < range.end;) {
      if (const std::size_t length = operator_length(name_, i); length > 0) {
        out_ += name_.substr(i, length);
        i += length;
        continue;
      }
      const char c = name_[i];
      const bool opens = c == '<' || c == '(' || (c == '[' && i > 0 && is_word(name_[i - 1]));
      const std::size_t end = opens ? closing(i) : std::string_view::npos;
      if (end == std::string_view::npos || end > range.end) {
        if (nesting == 0) note(i);
        out_ += c;
        ++i;
        continue;
      }
      const bool parameters = nesting == 0 && are_parameters(name_, i);
      templated_ = templated_ || (c == '<' && nesting == 0);
      if (touches({i + 1, end - 1})) {
        add_arguments({i + 1, end - 1}, c, nesting);
      } else if (c == '(' && !parameters) {
        out_ += name_.substr(i, end - i) == "(anonymous namespace)" ? "(anon)" : name_.substr(i, end - i);
      } else if (c != '(') {
        out_.append(1, c).append(kDots).append(1, closer_of(c));
      }
      i = end;
      if (!parameters) continue;
      had_parameters_ = true;
      // "const", "[clone .cold]": only where they are the difference.
      const std::size_t scope = std::min(name_.find("::", i), range.end);
      if (!touches({i, scope})) i = scope;
    }
  }

  void add_arguments(Piece range, char open, int nesting) {
    out_ += open;
    bool dots = false, first = true;
    for (std::size_t i = range.begin; i <= range.end;) {
      const Piece argument{i, argument_end(i, range.end)};
      i = argument.end + 1;
      const bool shown = touches(argument);
      if (!shown && dots) continue;
      if (!first) out_ += ", ";
      first = false;
      dots = !shown;
      if (dots) {
        out_ += kDots;
        continue;
      }
      std::size_t begin = argument.begin;
      while (begin < argument.end && name_[begin] == ' ') ++begin;
      if (nesting < kMaxNesting) {
        add({begin, argument.end}, nesting + 1);
      } else {
        out_ += name_.substr(begin, argument.end - begin);
      }
    }
    out_ += closer_of(open);
  }

  std::size_t argument_end(std::size_t i, std::size_t end) {
    while (i < end && name_[i] != ',') {
      const char c = name_[i];
      if (const std::size_t length = operator_length(name_, i); length > 0) {
        i = std::min(i + length, end);
        continue;
      }
      const bool opens = c == '<' || c == '(' || c == '[' || c == '{';
      const std::size_t after = opens ? closing(i) : std::string_view::npos;
      i = after == std::string_view::npos || after > end ? i + 1 : after;
    }
    return i;
  }

  // Where a return type and a path of the name itself end.
  void note(std::size_t i) {
    if (name_[i] == ' ' && !had_parameters_) space_ = {i, out_.size() + 1};
    if (name_[i] == '/' && !had_parameters_ && name_.find("::") == std::string_view::npos)
      slash_ = {i, out_.size() + 1};
  }

  std::string_view name_;
  Piece kept_;
  std::string out_;
  Piece space_, slash_;  // where in the name, and what of `out_` comes before what follows
  bool templated_ = false, had_parameters_ = false, unbalanced_ = false;
};

std::vector<std::string> shortened(std::span<const std::string> names) {
  const Piece same = common_ends(names);
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) {
    out.push_back(Shortener(name, {same.begin, name.size() - same.end}).text());
  }
  return out;
}

bool all_differ(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return std::adjacent_find(texts.begin(), texts.end()) == texts.end();
}

}  // namespace

std::vector<std::string> differing_parts(std::span<const std::string> names) {
  if (names.empty()) return {};
  std::vector<std::string> bare;
  bare.reserve(names.size());
  for (const std::string& name : names) bare.push_back(without_parameters(name));
  std::vector<std::string> out = shortened(bare);
  return all_differ(out) ? out : shortened(names);
}

}  // namespace profd
