// 32-bit ids, one strong type per table. A default id is "none".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace profd {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

template <class Tag>
struct Id {
  std::uint32_t v = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : v(value) {}
  constexpr explicit Id(std::size_t value) : v(static_cast<std::uint32_t>(value)) {}
  constexpr bool valid() const { return v != kNone; }
  constexpr auto operator<=>(const Id&) const = default;
};

using StringId = Id<struct StringTag>;  // 0 is always ""
using FileId = Id<struct FileTag>;
using ModuleId = Id<struct ModuleTag>;
using FunctionId = Id<struct FunctionTag>;
using FrameId = Id<struct FrameTag>;
using PieceId = Id<struct PieceTag>;
using ContextId = Id<struct ContextTag>;  // 0 is always the root, which has no frame
using ThreadId = Id<struct ThreadTag>;
using LabelSetId = Id<struct LabelSetTag>;
using MetricId = Id<struct MetricTag>;
using TaskId = Id<struct TaskTag>;
using CounterId = Id<struct CounterTag>;

inline constexpr ContextId kRootContext{0u};

}  // namespace profd

template <class Tag>
struct std::hash<profd::Id<Tag>> {
  std::size_t operator()(profd::Id<Tag> id) const noexcept { return id.v * 0x9E3779B97F4A7C15ull; }
};
