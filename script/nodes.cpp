// Nodes: contexts of a profile. Those of the first can be changed.
#include <algorithm>
#include <iterator>

#include "core/support/id.h"
#include "script/host.h"

namespace profd::script {
namespace {

enum Property : int { id, name, file, line, function_line, module, kind, parent, depth, is_root };

// In the order of FrameKind.
constexpr const char* kKinds[] = {"native", "jit", "interpreted", "kernel", "gc", "waker", "data"};

ProfileView& view_of(lua_State* lua, NodeRef node) {
  return host_of(lua).profiles[node.profile];
}

int get(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  const ProfileView& view = view_of(lua, node);
  const auto property = static_cast<Property>(lua_tointeger(lua, 2));
  const std::uint32_t c = node.context;
  switch (property) {
    case id:
      lua_pushinteger(lua, c);
      return 1;
    case parent:
      if (c == 0)
        lua_pushnil(lua);
      else
        push_node(lua, node.profile, view.parent[c]);
      return 1;
    case depth:
      lua_pushinteger(lua, view.depth(c));
      return 1;
    case is_root:
      lua_pushboolean(lua, c == 0 ? 1 : 0);
      return 1;
    default:
      break;
  }
  if (c == 0) {
    if (property == line || property == function_line)
      lua_pushinteger(lua, 0);
    else
      lua_pushliteral(lua, "");
    return 1;
  }
  const std::uint32_t frame = view.frame[c], function = view.frame_function[frame];
  switch (property) {
    case name:
      push_text(lua, view.text(view.function_name[function]));
      break;
    case file:
      push_text(lua, view.text(view.frame_file[frame]));
      break;
    case line:
      lua_pushinteger(lua, view.frame_line[frame]);
      break;
    case function_line:
      lua_pushinteger(lua, view.function_line[function]);
      break;
    case module: {
      const std::uint32_t of = view.frame_module[frame];
      push_text(lua, of == kNone ? std::string_view() : view.text(view.module_name[of]));
      break;
    }
    default:
      lua_pushstring(lua, kKinds[std::min<std::size_t>(view.frame_kind[frame], std::size(kKinds) - 1)]);
      break;
  }
  return 1;
}

int self(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  push_value(lua, view_of(lua, node).self(check_metric(lua, 2, node.profile)), node.context);
  return 1;
}

int total(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  push_value(lua, view_of(lua, node).total(check_metric(lua, 2, node.profile)), node.context);
  return 1;
}

int share(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  ProfileView& view = view_of(lua, node);
  const std::uint32_t metric = check_metric(lua, 2, node.profile);
  const double all = view.grand_total(metric);
  lua_pushnumber(lua, all == 0 ? 0 : as_double(view.total(metric), node.context) / all);
  return 1;
}

int next_child(lua_State* lua) {
  const NodeRef node = check_node(lua, lua_upvalueindex(1));
  const auto at = static_cast<std::uint32_t>(lua_tointeger(lua, lua_upvalueindex(2)));
  const ProfileView& view = view_of(lua, node);
  if (at >= view.end[node.context]) return 0;
  lua_pushinteger(lua, view.end[at]);
  lua_replace(lua, lua_upvalueindex(2));
  push_node(lua, node.profile, at);
  return 1;
}

int children(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  lua_pushvalue(lua, 1);
  lua_pushinteger(lua, lua_Integer{node.context} + 1);
  lua_pushcclosure(lua, next_child, 2);
  return 1;
}

NodeEdit& edit(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  if (node.profile != 0) luaL_error(lua, "only nodes of the first profile can be changed");
  if (node.context == 0) luaL_error(lua, "the root cannot be changed");
  return host_of(lua).edits[node.context];
}

int elide(lua_State* lua) {
  edit(lua).act = ContextAct::elide;
  return 0;
}
int stop(lua_State* lua) {
  edit(lua).act = ContextAct::stop;
  return 0;
}
int drop(lua_State* lua) {
  edit(lua).act = ContextAct::drop;
  return 0;
}

int merge(lua_State* lua) {
  const NodeRef node = check_node(lua, 1), other = check_node(lua, 2);
  if (other.profile != node.profile) return luaL_error(lua, "nodes of two profiles cannot be merged");
  if (other.context == 0) return luaL_error(lua, "a node cannot be merged with the root; elide it");
  if (other.context >= node.context)
    return luaL_error(lua, "a node is merged with one that was visited before it");
  NodeEdit& of = edit(lua);
  of.act = ContextAct::merge;
  of.into = other.context;
  return 0;
}

int rename(lua_State* lua) {
  const std::string name = cell_text(check_text(lua, 2));
  if (name.empty()) return luaL_error(lua, "a node needs a name");
  NodeEdit& of = edit(lua);
  of.renamed = true;
  of.name = name;
  return 0;
}

int tag(lua_State* lua) {
  const std::string text = " [" + std::string(check_text(lua, 2)) + "]";
  NodeEdit& of = edit(lua);
  if (of.tags.size() + text.size() <= worker::kMaxScriptCell) of.tags += text;
  return 0;
}

int equal(lua_State* lua) {
  const NodeRef a = check_node(lua, 1), b = check_node(lua, 2);
  lua_pushboolean(lua, a.profile == b.profile && a.context == b.context ? 1 : 0);
  return 1;
}

int to_string(lua_State* lua) {
  const NodeRef node = check_node(lua, 1);
  const ProfileView& view = view_of(lua, node);
  push_text(lua,
            node.context == 0 ? "(root)" : view.text(view.function_name[view.function_of(node.context)]));
  return 1;
}

constexpr Member kMembers[] = {
    {"id", nullptr, id},
    {"name", nullptr, name},
    {"file", nullptr, file},
    {"line", nullptr, line},
    {"function_line", nullptr, function_line},
    {"module", nullptr, module},
    {"kind", nullptr, kind},
    {"parent", nullptr, parent},
    {"depth", nullptr, depth},
    {"is_root", nullptr, is_root},
    {"self", self, 0},
    {"total", total, 0},
    {"share", share, 0},
    {"children", children, 0},
    {"elide", elide, 0},
    {"merge", merge, 0},
    {"rename", rename, 0},
    {"tag", tag, 0},
    {"stop", stop, 0},
    {"drop", drop, 0},
};

}  // namespace

void push_node(lua_State* lua, std::uint32_t profile, std::uint32_t context) {
  *static_cast<NodeRef*>(lua_newuserdatauv(lua, sizeof(NodeRef), 0)) = {profile, context};
  luaL_setmetatable(lua, kNodeType);
}

NodeRef check_node(lua_State* lua, int index) {
  return *static_cast<NodeRef*>(luaL_checkudata(lua, index, kNodeType));
}

void open_nodes(lua_State* lua) {
  new_type(lua, kNodeType, kMembers, std::size(kMembers), get);
  luaL_getmetatable(lua, kNodeType);
  lua_pushcfunction(lua, equal);
  lua_setfield(lua, -2, "__eq");
  lua_pushcfunction(lua, to_string);
  lua_setfield(lua, -2, "__tostring");
  lua_pop(lua, 1);
}

}  // namespace profd::script
