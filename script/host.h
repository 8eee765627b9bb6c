// The host of one script: a state of Lua that can reach nothing but profiles, and what the script makes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <lua.hpp>

#include "script/profile_view.h"
#include "workers/script.h"

namespace profd::script {

struct NodeEdit {
  ContextAct act = ContextAct::keep;
  std::uint32_t into = 0;
  bool renamed = false;
  std::string name, tags;
};

struct Host {
  std::vector<ProfileView> profiles;
  // What the heap of the script may hold, and holds.
  std::size_t most_bytes = 0, bytes = 0;

  std::map<std::uint32_t, NodeEdit> edits;  // of the first profile
  std::vector<worker::ScriptMetric> metrics;
  std::vector<worker::ScriptTable> tables;
  std::size_t table_bytes = 0;
  std::vector<worker::ScriptNote> notes;
  worker::ScriptDone done;
};

// The host of a state.
Host& host_of(lua_State* lua);

// Runs the script over the profiles of `host`; what comes of it is in there, an error of the script in
// `done`.
void run(Host& host, const worker::ScriptRun& order);

// What becomes of contexts, as a message has it.
ContextEdits edits_of(const Host& host);

// What a script can reach, by the file that defines it. Each leaves the stack as it was.
void open_profiles(lua_State* lua);  // profile, profiles, samples, records
void open_nodes(lua_State* lua);
void open_columns(lua_State* lua);
void open_results(lua_State* lua);  // print, show_table, annotate

// Names of metatables of userdata.
constexpr const char* kProfileType = "profd.profile";
constexpr const char* kNodeType = "profd.node";
constexpr const char* kSampleType = "profd.sample";
constexpr const char* kColumnType = "profd.column";

struct NodeRef {
  std::uint32_t profile, context;
};
void push_node(lua_State* lua, std::uint32_t profile, std::uint32_t context);
NodeRef check_node(lua_State* lua, int index);

// A column by context of a profile, with its values behind it in one piece of the script's own memory.
struct ColumnRef {
  std::uint32_t profile;
  std::uint32_t n;
  [[nodiscard]] double* values() { return reinterpret_cast<double*>(this + 1); }
};
static_assert(sizeof(ColumnRef) == sizeof(double));
ColumnRef& push_column(lua_State* lua, std::uint32_t profile);
ColumnRef& check_column(lua_State* lua, int index);

// The metric that the argument names; none or nil: the default one.
std::uint32_t check_metric(lua_State* lua, int index, std::uint32_t profile);
std::string_view check_text(lua_State* lua, int index);
// At most kMaxScriptCell bytes of it, cut between letters.
std::string cell_text(std::string_view text);
void push_text(lua_State* lua, std::string_view text);
// A whole number where the source has those.
template <class AnyValues>
void push_value(lua_State* lua, const AnyValues& values, std::size_t row) {
  if (const auto* whole = std::get_if<0>(&values))
    lua_pushinteger(lua, (*whole)[row]);
  else
    lua_pushnumber(lua, std::get<1>(values)[row]);
}

struct Member {
  const char* name;
  lua_CFunction call;  // null: `property`
  int property;
};
// Makes the metatable `type`: methods, and properties that `get(lua)` pushes, given the object and the
// number.
void new_type(lua_State* lua, const char* type, const Member* members, std::size_t n, lua_CFunction get);

}  // namespace profd::script
