// Named sets of frames: garbage collection, locking, what a person calls "database". A set is expressions
// over names of functions, modules and files; which sets a frame is in is worked out once per profile, a bit
// a set, and views look at bits alone.
//
// Of what a set does, a stack can be asked two things. It is `through` the set when one of its frames is in
// it. It is the set's `own` work when, from the last of those frames down to its end, there is nothing but
// what the set itself needs: frames of sets that are `helper` (the runtime and its library, the kernel). Any
// other frame was called back, and what it does is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"

namespace profd {

// Whose names expressions are of: the same name means something else in another language.
enum class Runtime : std::uint8_t { any, go, jvm, js, python, rust, c };

struct FramePatterns {
  Runtime runtime = Runtime::any;
  std::vector<std::string> functions, modules, files;  // RE2, searched for
  std::vector<FrameKind> kinds;                        // frames of these, whatever their names
};

struct FrameSet {
  std::string name, title;  // as filters and as people call it
  std::vector<FramePatterns> patterns;
  std::vector<std::string> includes;      // sets whose frames are in it too
  std::shared_ptr<const FrameRule> rule;  // further frames of it; may be null
  bool kind = false;                      // of work: what stacks are told apart and coloured by
  std::optional<std::uint16_t> hue;
  bool background = false;   // a kind only of stacks that have no other
  bool helper = false;       // frames of it work for whoever calls them
  bool idle = false;         // frames of it do nothing: no set's own work, but that of sets they are in
  bool called = false;       // own work only below a frame that is neither in it nor a helper: a library that
                             // is run for its own sake is none
  bool not_inlined = false;  // inlined frames are not in it
  bool own = false;          // the user's, not one that comes with profd
};

inline constexpr std::size_t kMaxFrameSets = 64;
using SetMask = std::uint64_t;

// What sets are, as bits.
struct SetRules {
  SetMask helpers = 0, idle = 0, called = 0, kinds = 0, background = 0;
};

class FrameSets {
 public:
  // Those named alike are one: what comes later adds frames to it. Earlier ones go before later ones where a
  // frame can have one kind alone. Fails with `invalid` for an expression that is none or a set that is not
  // there, with `limit` beyond kMaxFrameSets.
  static Result<std::shared_ptr<const FrameSets>> compile(std::vector<FrameSet> sets);
  ~FrameSets();

  [[nodiscard]] const std::vector<FrameSet>& sets() const { return sets_; }
  [[nodiscard]] const SetRules& rules() const { return rules_; }
  // Nothing when there is none of that name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  // Equal for sets that are made of the same, as far as those of the mask are concerned.
  [[nodiscard]] std::string id(SetMask wanted = ~SetMask{0}) const;

  // By FrameId, the sets that it is in. Those that are not `wanted` may be left out.
  [[nodiscard]] Result<std::vector<SetMask>> masks(const Profile& profile, const StopToken& stop,
                                                   SetMask wanted = ~SetMask{0}) const;

 private:
  class Texts;
  FrameSets();
  std::vector<FrameSet> sets_;
  SetRules rules_;
  SetMask not_inlined_ = 0;
  std::vector<SetMask> included_by_;  // by set
  std::string id_;
  std::unique_ptr<Texts> functions_, modules_, files_;
};
using FrameSetsPtr = std::shared_ptr<const FrameSets>;

// What a filter by `kind` means: frames of the set that its pattern names, or of all that it matches; by
// `work`, of each frame the WorkCode. The rule fails with `not_found` for a set that is not there.
std::shared_ptr<const FrameRule> set_rule(FrameSetsPtr sets, const Filter& filter);

// What a frame is to one set, of a rule for a filter by `work`.
enum class WorkCode : std::uint8_t { other, in, in_if_called, helper, idle };

}  // namespace profd
