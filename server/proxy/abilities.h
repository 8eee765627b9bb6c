// Who of the two answers what: the capabilities of the wrapped server and of profd, as one server's.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace profd {

enum class MergeKind : std::uint8_t { items, hover, symbols };

// A request that both may answer.
struct MergedMethod {
  std::string_view method, capability;
  MergeKind kind;
  std::string_view resolve;  // what completes an item of the answer; "" nothing
  std::string_view refresh;  // what has the editor ask anew; "" nothing
};
std::span<const MergedMethod> merged_methods();
// Null: it is answered by one alone.
const MergedMethod* merged_method(std::string_view method);

using MethodSet = std::set<std::string, std::less<>>;

// What the wrapped server wants to hear of documents.
struct SyncWants {
  bool open_close = false, change = false, save = false;
};

struct Abilities {
  MethodSet server, profd;  // of merged_methods() and what they are resolved by
  MethodSet profd_alone;    // told to the editor for profd's sake: the server did not announce them
  MethodSet native;         // profd's own methods
  MethodSet commands;       // profd's
  SyncWants sync;
};

struct MergedInitialize {
  std::string result;
  Abilities abilities;
};
// `server` and `profd`: results of `initialize`; profd's may be "". What the server says of things that profd
// has no part in stays as it wrote it.
MergedInitialize merge_initialize(std::string_view server, std::string_view profd);

}  // namespace profd
