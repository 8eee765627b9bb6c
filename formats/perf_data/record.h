// Records of a perf.data file: their types and the header each begins with.
#pragma once

#include <cstdint>

namespace profd::perf_data {

enum RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kThrottle = 5,
  kUnthrottle = 6,
  kFork = 7,
  kReadRecord = 8,
  kSample = 9,
  kMmap2 = 10,
  kAuxRecord = 11,
  kItraceStart = 12,
  kLostSamples = 13,
  kSwitch = 14,
  kSwitchCpuWide = 15,
  kNamespaces = 16,
  kKsymbol = 17,
  kBpfEvent = 18,
  kCgroupRecord = 19,
  kTextPoke = 20,
  kAuxOutputId = 21,
  kCallchainDeferred = 22,
  kLastKernelType = 22,
  // What perf itself writes.
  kHeaderAttr = 64,
  kEventTypeRecord = 65,
  kTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtraceInfo = 70,
  kAuxtrace = 71,
  kAuxtraceError = 72,
  kThreadMap = 73,
  kEventUpdate = 78,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressed = 81,
  kFinishedInit = 82,
  kCompressed2 = 83,
  kLastOwnType = 86,
  kFirstSimpleperfType = 32768,  // symbols, stacks unwound later
};

inline constexpr std::size_t kRecordHeaderSize = 8;

// misc of a record's header.
enum CpuMode : std::uint16_t {
  kModeUnknown = 0,
  kModeKernel = 1,
  kModeUser = 2,
  kModeHypervisor = 3,
  kModeGuestKernel = 4,
  kModeGuestUser = 5,
};
inline constexpr std::uint16_t kCpuModeMask = 7;
inline constexpr std::uint16_t kMiscCommExec = 1u << 13;
inline constexpr std::uint16_t kMiscForkExec = 1u << 13;
inline constexpr std::uint16_t kMiscMmapBuildId = 1u << 14;
inline constexpr std::uint16_t kMiscSwitchOut = 1u << 13;
inline constexpr std::uint16_t kMiscSwitchPreempted = 1u << 14;

struct RecordHeader {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint16_t size = 0;  // with this header
};

}  // namespace profd::perf_data
