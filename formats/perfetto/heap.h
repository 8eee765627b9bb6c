// Heap profiles: ProfilePacket (native heap, one profile for each dump) and HeapGraph (managed heap, by
// type).
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "formats/perfetto/trace.h"

namespace profd::perfetto {

class Heaps {
 public:
  Heaps(ReadContext& context, StackTable& stacks) : context_(context), stacks_(stacks) {}

  void add_packet(Cursor profile_packet, Sequence& sequence, std::uint32_t sequence_id, std::uint64_t offset);
  void add_graph(Cursor heap_graph, std::uint32_t sequence_id, std::uint64_t offset);
  void build(const ThreadNames& names, std::vector<ProfileBuilder>& profiles);

 private:
  struct Sample {
    std::uint32_t stack = 0;  // kNone: not known
    std::int64_t allocated = 0, freed = 0, idle = 0, max = 0, allocs = 0, frees = 0, max_allocs = 0;
  };
  struct Dump {
    std::int64_t pid = -1;
    std::string_view heap;
    std::uint64_t interval = 0;
    bool has_max = false, has_idle = false;
    std::vector<Sample> samples;
  };
  struct Open {
    std::map<std::pair<std::int64_t, std::string_view>, std::size_t> dumps;  // of packets that continue
  };
  struct TypeCount {
    std::int64_t objects = 0, bytes = 0;
  };
  struct Graph {
    std::int64_t pid = -1;
    bool open = true;
    std::unordered_map<std::uint64_t, std::string_view> names;
    std::unordered_map<std::uint64_t, std::uint64_t> sizes;  // where objects leave theirs to the type
    std::map<std::uint64_t, TypeCount> types;
    std::map<std::uint64_t, std::int64_t> unsized;  // type -> objects without a size
  };

  ReadContext& context_;
  StackTable& stacks_;
  std::vector<Dump> dumps_;
  std::unordered_map<std::uint32_t, Open> open_;  // by sequence
  std::vector<Graph> graphs_;
  std::unordered_map<std::uint32_t, std::size_t> open_graph_;
};

}  // namespace profd::perfetto
