#include "core/view/frame_sets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include "core/support/near_miss.h"
#include "core/view/pattern.h"

namespace profd {
namespace {

constexpr SetMask bit_of(std::size_t set) {
  return SetMask{1} << set;
}

using RuntimeBits = std::uint8_t;
constexpr RuntimeBits bit_of(Runtime runtime) {
  return static_cast<RuntimeBits>(1u << static_cast<unsigned>(runtime));
}
constexpr RuntimeBits kAllRuntimes = 0x7f;
// What code that is interpreted or compiled as it runs is not of.
constexpr RuntimeBits kAheadOfTime = bit_of(Runtime::go) | bit_of(Runtime::rust) | bit_of(Runtime::c);

// By the endings of its files; those of other languages, and no file, say nothing.
constexpr std::array<std::pair<std::string_view, Runtime>, 28> kRuntimeEndings = {{
    {".go", Runtime::go},      {".java", Runtime::jvm},   {".kt", Runtime::jvm},  {".scala", Runtime::jvm},
    {".groovy", Runtime::jvm}, {".clj", Runtime::jvm},    {".js", Runtime::js},   {".mjs", Runtime::js},
    {".cjs", Runtime::js},     {".ts", Runtime::js},      {".tsx", Runtime::js},  {".jsx", Runtime::js},
    {".py", Runtime::python},  {".pyx", Runtime::python}, {".rs", Runtime::rust}, {".c", Runtime::c},
    {".cc", Runtime::c},       {".cpp", Runtime::c},      {".cxx", Runtime::c},   {".h", Runtime::c},
    {".hh", Runtime::c},       {".hpp", Runtime::c},      {".hxx", Runtime::c},   {".tcc", Runtime::c},
    {".inl", Runtime::c},      {".C", Runtime::c},        {".m", Runtime::c},     {".mm", Runtime::c},
}};

// Which languages code of a file can be of. What is written in C is also the machine that others run on.
RuntimeBits runtimes_of(std::string_view file) {
  const RuntimeBits any = bit_of(Runtime::any);
  if (file.starts_with("node:")) return static_cast<RuntimeBits>(any | bit_of(Runtime::js));
  for (const auto& [ending, runtime] : kRuntimeEndings) {
    if (!file.ends_with(ending)) continue;
    if (runtime != Runtime::c) return static_cast<RuntimeBits>(any | bit_of(runtime));
    return static_cast<RuntimeBits>(any | bit_of(Runtime::c) | bit_of(Runtime::jvm) | bit_of(Runtime::js));
  }
  return kAllRuntimes;
}

bool is_managed(FrameKind kind) {
  return kind == FrameKind::jit || kind == FrameKind::interpreted;
}

void write_texts(std::string& out, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) out += fmt::format("{}:{} ", text.size(), text);
  out += ';';
}

// All that decides which frames are in a set.
std::string text_of_set(const FrameSet& set) {
  std::string out = set.name;
  for (const FramePatterns& patterns : set.patterns) {
    out += fmt::format(" {} ", static_cast<int>(patterns.runtime));
    write_texts(out, patterns.functions);
    write_texts(out, patterns.modules);
    write_texts(out, patterns.files);
  }
  write_texts(out, set.includes);
  return out + fmt::format(" {}{}{}{}{}{}\n", set.background, set.helper, set.idle, set.called,
                           set.not_inlined, set.kind);
}

// One of a name: what comes later adds to it.
std::vector<FrameSet> joined(std::vector<FrameSet> sets) {
  std::vector<FrameSet> out;
  for (FrameSet& set : sets) {
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const FrameSet& one) { return one.name == set.name; });
    if (known == out.end()) {
      out.push_back(std::move(set));
      continue;
    }
    std::move(set.patterns.begin(), set.patterns.end(), std::back_inserter(known->patterns));
    std::move(set.includes.begin(), set.includes.end(), std::back_inserter(known->includes));
    if (known->title.empty()) known->title = std::move(set.title);
    if (!known->hue) known->hue = set.hue;
    if (!known->rule) known->rule = std::move(set.rule);
    // Whether it is a kind says the first.
    known->background = known->background || set.background;
    known->helper = known->helper || set.helper;
    known->idle = known->idle || set.idle;
    known->called = known->called || set.called;
    known->not_inlined = known->not_inlined || set.not_inlined;
    known->own = known->own || set.own;
  }
  for (FrameSet& set : out)
    if (set.title.empty()) set.title = set.name;
  return out;
}

}  // namespace

// The expressions of all sets over one kind of text, looked for at once.
class FrameSets::Texts {
 public:
  Result<void> add(std::size_t set, Runtime runtime, const std::string& pattern) {
    std::string error;
    PROFD_CHECK(Pattern::compile(pattern, true));
    if (!matcher_) matcher_ = std::make_unique<RE2::Set>(options(), RE2::UNANCHORED);
    if (matcher_->Add(re2::StringPiece(pattern.data(), pattern.size()), &error) < 0)
      return fail(ErrorCode::invalid, fmt::format("the regular expression is not valid: {}", error));
    meanings_.push_back({bit_of(set), bit_of(runtime)});
    return {};
  }
  Result<void> finish() {
    if (matcher_ && !matcher_->Compile()) return fail(ErrorCode::limit, kTooMuch);
    return {};
  }
  // Into out[0] what code of these languages is in, into out[1] the same without languages that are compiled
  // ahead of time.
  Result<void> match(std::string_view text, RuntimeBits runtimes, std::array<SetMask, 2>& out,
                     std::vector<int>& found) const {
    if (!matcher_ || text.empty()) return {};
    found.clear();
    RE2::Set::ErrorInfo error{};
    if (!matcher_->Match(re2::StringPiece(text.data(), text.size()), &found, &error)) {
      if (error.kind == RE2::Set::kNoError) return {};
      return fail(ErrorCode::limit, kTooMuch);
    }
    for (const int one : found) {
      const Meaning& meaning = meanings_[static_cast<std::size_t>(one)];
      if ((meaning.runtime & runtimes) == 0) continue;
      out[0] |= meaning.set;
      if ((meaning.runtime & kAheadOfTime) == 0) out[1] |= meaning.set;
    }
    return {};
  }

 private:
  static constexpr const char* kTooMuch = "the expressions of the sets need too much memory together";
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(32 << 20);
    return options;
  }
  struct Meaning {
    SetMask set;
    RuntimeBits runtime;
  };
  std::unique_ptr<RE2::Set> matcher_;
  std::vector<Meaning> meanings_;
};

FrameSets::FrameSets() = default;
FrameSets::~FrameSets() = default;

Result<std::shared_ptr<const FrameSets>> FrameSets::compile(std::vector<FrameSet> sets) {
  std::shared_ptr<FrameSets> out(new FrameSets());
  for (const FrameSet& set : sets)
    if (set.own) out->id_ += text_of_set(set);
  out->sets_ = joined(std::move(sets));
  if (out->sets_.size() > kMaxFrameSets)
    return fail(ErrorCode::limit, fmt::format("there are at most {} sets", kMaxFrameSets));
  out->functions_ = std::make_unique<Texts>();
  out->modules_ = std::make_unique<Texts>();
  out->files_ = std::make_unique<Texts>();
  out->included_by_.assign(out->sets_.size(), 0);
  for (std::size_t i = 0; i < out->sets_.size(); ++i) {
    const FrameSet& set = out->sets_[i];
    const auto named = [&](Result<void> added) -> Result<void> {
      if (!added) added.error().message.insert(0, fmt::format("the set {}: ", set.name));
      return added;
    };
    for (const FramePatterns& patterns : set.patterns) {
      for (const std::string& text : patterns.functions)
        PROFD_CHECK(named(out->functions_->add(i, patterns.runtime, text)));
      for (const std::string& text : patterns.modules)
        PROFD_CHECK(named(out->modules_->add(i, patterns.runtime, text)));
      for (const std::string& text : patterns.files)
        PROFD_CHECK(named(out->files_->add(i, patterns.runtime, text)));
    }
    for (const std::string& other : set.includes) {
      const auto found = out->find(other);
      if (!found)
        return fail(ErrorCode::invalid,
                    fmt::format("the set {} includes {}, which is no set", set.name, other));
      out->included_by_[*found] |= bit_of(i);
    }
    if (set.helper || set.idle) out->rules_.helpers |= bit_of(i);
    if (set.idle) out->rules_.idle |= bit_of(i);
    if (set.called) out->rules_.called |= bit_of(i);
    if (set.kind) out->rules_.kinds |= bit_of(i);
    if (set.kind && set.background) out->rules_.background |= bit_of(i);
    if (set.not_inlined) out->not_inlined_ |= bit_of(i);
  }
  // What includes a set that includes another has both.
  for (std::size_t middle = 0; middle < out->sets_.size(); ++middle)
    for (SetMask& includers : out->included_by_)
      if ((includers & bit_of(middle)) != 0) includers |= out->included_by_[middle];
  for (Texts* texts : {out->functions_.get(), out->modules_.get(), out->files_.get()})
    PROFD_CHECK(texts->finish());
  return std::shared_ptr<const FrameSets>(std::move(out));
}

std::optional<std::size_t> FrameSets::find(std::string_view name) const {
  for (std::size_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].name == name) return i;
  return std::nullopt;
}

std::string FrameSets::id(SetMask wanted) const {
  std::string out = id_;
  for (std::size_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].rule && (wanted & (bit_of(i) | included_by_[i])) != 0)
      out += fmt::format("{} {}\n", sets_[i].name, sets_[i].rule->id);
  return out;
}

Result<std::vector<SetMask>> FrameSets::masks(const Profile& profile, const StopToken& stop,
                                              SetMask wanted) const {
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  const StringTable& strings = profile.strings();
  std::vector<int> found;
  std::size_t looked_at = 0;
  const auto look = [&](const Texts& texts, StringId id, RuntimeBits runtimes,
                        std::array<SetMask, 2>& out) -> Result<void> {
    const std::string_view text = strings[id];
    if ((looked_at += text.size()) > Pattern::kLongText) {
      PROFD_CHECK(stop.status());
      looked_at = 0;
    }
    return texts.match(text, runtimes, out, found);
  };

  std::vector<std::array<SetMask, 2>> of_function(functions.size(), {0, 0});
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (functions.unresolved[f] != 0) continue;  // its name is that of a module or an address
    const RuntimeBits runtimes = runtimes_of(strings[functions.file[f]]);
    PROFD_CHECK(look(*functions_, functions.name[f], runtimes, of_function[f]));
    if (functions.system_name[f].v != 0)
      PROFD_CHECK(look(*functions_, functions.system_name[f], runtimes, of_function[f]));
  }
  std::vector<std::array<SetMask, 2>> of_module(profile.modules().size(), {0, 0});
  for (std::size_t m = 0; m < of_module.size(); ++m)
    PROFD_CHECK(look(*modules_, profile.modules().name[m], kAllRuntimes, of_module[m]));
  std::unordered_map<std::uint32_t, std::array<SetMask, 2>> of_file;
  const auto file_masks = [&](StringId file) -> Result<std::array<SetMask, 2>> {
    const auto [known, fresh] = of_file.try_emplace(file.v);
    if (fresh) PROFD_CHECK(look(*files_, file, runtimes_of(strings[file]), known->second));
    return known->second;
  };
  std::array<SetMask, kNFrameKinds> of_kind{};
  for (std::size_t i = 0; i < sets_.size(); ++i)
    for (const FramePatterns& patterns : sets_[i].patterns)
      for (const FrameKind kind : patterns.kinds) of_kind[static_cast<std::size_t>(kind)] |= bit_of(i);

  std::vector<SetMask> out(frames.size(), 0);
  for (std::size_t f = 0; f < out.size(); ++f) {
    const FrameKind kind = frames.kind[f];
    const std::size_t which = is_managed(kind) ? 1 : 0;
    SetMask mask = of_kind[static_cast<std::size_t>(kind)] | of_function[frames.function[f].v][which];
    if (frames.module[f].valid()) mask |= of_module[frames.module[f].v][which];
    const StringId file = frames.file[f].v != 0 ? frames.file[f] : functions.file[frames.function[f].v];
    if (file.v != 0) {
      PROFD_TRY(const auto masks, file_masks(file));
      mask |= masks[which];
    }
    out[f] = mask;
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (!sets_[i].rule || (wanted & (bit_of(i) | included_by_[i])) == 0) continue;
    PROFD_TRY(const std::vector<std::uint8_t> in, sets_[i].rule->matches(profile, stop));
    for (std::size_t f = 0; f < out.size() && f < in.size(); ++f)
      if (in[f] != 0) out[f] |= bit_of(i);
  }
  for (std::size_t f = 0; f < out.size(); ++f) {
    for (SetMask left = out[f]; left != 0; left &= left - 1)
      out[f] |= included_by_[static_cast<std::size_t>(std::countr_zero(left))];
    if (frames.inlined[f] != 0) out[f] &= ~not_inlined_;
  }
  return out;
}

namespace {

// The sets that a filter means.
Result<SetMask> meant(const FrameSets& sets, const std::string& pattern, bool regex) {
  SetMask mask = 0;
  std::vector<std::string_view> names;
  PROFD_TRY(const Pattern compiled, Pattern::compile(pattern, regex));
  for (std::size_t i = 0; i < sets.sets().size(); ++i) {
    names.push_back(sets.sets()[i].name);
    if (compiled.matches(names.back())) mask |= bit_of(i);
  }
  if (mask == 0)
    return fail(ErrorCode::not_found, fmt::format("no set is called \"{}\"{}; there are {}", pattern,
                                                  did_you_mean(pattern, names), fmt::join(names, ", ")));
  return mask;
}

WorkCode code_of(SetMask frame, SetMask set, const SetRules& rules) {
  if ((frame & set) != 0) return (rules.called & set) != 0 ? WorkCode::in_if_called : WorkCode::in;
  if ((frame & rules.idle) != 0) return WorkCode::idle;
  return (frame & rules.helpers) != 0 ? WorkCode::helper : WorkCode::other;
}

}  // namespace

std::shared_ptr<const FrameRule> set_rule(FrameSetsPtr sets, const Filter& filter) {
  auto rule = std::make_shared<FrameRule>();
  const auto known = meant(*sets, filter.pattern, filter.regex);
  rule->id = "sets " + sets->id(known ? *known : 0);
  rule->matches = [sets = std::move(sets), pattern = filter.pattern, regex = filter.regex,
                   work = filter.by == FilterBy::work](const Profile& profile,
                                                       StopToken stop) -> Result<std::vector<std::uint8_t>> {
    PROFD_TRY(const SetMask set, meant(*sets, pattern, regex));
    PROFD_TRY(const std::vector<SetMask> masks, sets->masks(profile, stop, set | sets->rules().helpers));
    std::vector<std::uint8_t> out(masks.size());
    for (std::size_t f = 0; f < out.size(); ++f)
      out[f] = work ? static_cast<std::uint8_t>(code_of(masks[f], set, sets->rules()))
                    : static_cast<std::uint8_t>((masks[f] & set) != 0 ? 1 : 0);
    return out;
  };
  return rule;
}

}  // namespace profd
