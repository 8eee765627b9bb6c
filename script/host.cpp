#include "script/host.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/support/big_vector.h"
#include "script/prelude.h"

namespace profd::script {
namespace {

using Bytes = BigAllocator<std::byte>;

// Blocks of pages of their own, which columns are.
bool is_big(std::size_t bytes) {
  return bytes >= 2 * kHugePage;
}

void* make_block(std::size_t bytes) {
  if (!is_big(bytes)) return std::malloc(bytes);
  try {
    return Bytes().allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void give_back(void* block, std::size_t bytes) {
  if (is_big(bytes))
    Bytes().deallocate(static_cast<std::byte*>(block), bytes);
  else
    std::free(block);
}

void* move_block(void* block, std::size_t before, std::size_t size) {
  if (!is_big(before) && !is_big(size)) return std::realloc(block, size);
  void* const made = make_block(size);
  if (made == nullptr || block == nullptr) return made;
  std::memcpy(made, block, std::min(before, size));
  give_back(block, before);
  return made;
}

void* allocate(void* host_pointer, void* block, std::size_t before, std::size_t size) {
  Host& host = *static_cast<Host*>(host_pointer);
  const std::size_t had = block == nullptr ? 0 : before;
  if (size == 0) {
    if (block != nullptr) give_back(block, had);
    host.bytes -= had;
    return nullptr;
  }
  if (size > had && (host.bytes - had > host.most_bytes || size > host.most_bytes - (host.bytes - had)))
    return nullptr;
  void* const made = move_block(block, had, size);
  if (made != nullptr) host.bytes = host.bytes - had + size;
  return made;
}

// Where in the script it happened, without a word that a script could answer.
int on_error(lua_State* lua) {
  Host& host = host_of(lua);
  lua_Debug at;
  for (int level = 0; lua_getstack(lua, level, &at) != 0; ++level) {
    lua_getinfo(lua, "Sl", &at);
    if (at.currentline <= 0 || std::strcmp(at.source, "=profd") == 0) continue;
    host.done.line = static_cast<std::uint32_t>(at.currentline);
    break;
  }
  return 1;
}

// "name:12: sentence" without its place, which is told beside it.
std::string without_place(std::string_view message, const std::string& name, std::uint32_t& line) {
  // The interpreter shortens long names.
  const std::string known = name.substr(0, LUA_IDSIZE - 1) + ":";
  if (message.substr(0, known.size()) != known) return std::string(message);
  std::size_t at = known.size();
  std::uint32_t number = 0;
  while (at < message.size() && message[at] >= '0' && message[at] <= '9' && number < 100'000'000)
    number = number * 10 + static_cast<std::uint32_t>(message[at++] - '0');
  if (number == 0 || message.substr(at, 2) != ": ") return std::string(message);
  if (line == 0) line = number;
  return std::string(message.substr(at + 2));
}

void take_error(lua_State* lua, Host& host, const std::string& name) {
  // Anything but a text would be asked for one, which is the script's to answer.
  if (lua_type(lua, -1) == LUA_TSTRING) {
    std::size_t n = 0;
    const char* const text = lua_tolstring(lua, -1, &n);
    host.done.error = cell_text(without_place({text, n}, name, host.done.line));
  } else {
    host.done.error = std::string("the script ended with an error that is a ") + luaL_typename(lua, -1);
  }
  if (host.done.error.empty()) host.done.error = "the script ended with an error without a text";
  lua_pop(lua, 1);
}

void open_libraries(lua_State* lua) {
  constexpr luaL_Reg kLibraries[] = {{LUA_GNAME, luaopen_base},        {LUA_TABLIBNAME, luaopen_table},
                                     {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math},
                                     {LUA_UTF8LIBNAME, luaopen_utf8},  {LUA_COLIBNAME, luaopen_coroutine}};
  for (const luaL_Reg& one : kLibraries) {
    luaL_requiref(lua, one.name, one.func, 1);
    lua_pop(lua, 1);
  }
  for (const char* const name : {"dofile", "loadfile", "collectgarbage", "warn"}) {
    lua_pushnil(lua);
    lua_setglobal(lua, name);
  }
  lua_getglobal(lua, LUA_STRLIBNAME);
  lua_pushnil(lua);
  lua_setfield(lua, -2, "dump");
  lua_pop(lua, 1);
}

void set_arguments(lua_State* lua, const worker::ScriptRun& order) {
  lua_newtable(lua);
  for (const worker::ScriptArgument& argument : order.arguments) {
    push_text(lua, argument.name);
    switch (argument.type) {
      case worker::ScriptType::text:
        push_text(lua, argument.value);
        break;
      case worker::ScriptType::number:
        lua_pushnumber(lua, std::strtod(argument.value.c_str(), nullptr));
        break;
      case worker::ScriptType::integer:
        lua_pushinteger(lua, std::strtoll(argument.value.c_str(), nullptr, 10));
        break;
      case worker::ScriptType::boolean:
        lua_pushboolean(lua, argument.value == "true" ? 1 : 0);
        break;
    }
    lua_rawset(lua, -3);
  }
  lua_setglobal(lua, "args");
}

// Protected, as all of it takes memory of the script.
int prepare(lua_State* lua) {
  const auto& order = *static_cast<const worker::ScriptRun*>(lua_touserdata(lua, 1));
  open_libraries(lua);
  if (luaL_loadbufferx(lua, kPrelude, sizeof(kPrelude) - 1, "=profd", "t") != LUA_OK) return lua_error(lua);
  lua_call(lua, 0, 0);
  open_nodes(lua);
  open_columns(lua);
  open_profiles(lua);
  open_results(lua);
  set_arguments(lua, order);
  return 0;
}

int get_member(lua_State* lua) {
  lua_pushvalue(lua, 2);
  lua_rawget(lua, lua_upvalueindex(1));
  if (lua_type(lua, -1) == LUA_TFUNCTION) return 1;
  if (lua_type(lua, -1) != LUA_TNUMBER) {
    const char* const name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : luaL_typename(lua, 2);
    return luaL_error(lua, "a %s has no `%s`", lua_tostring(lua, lua_upvalueindex(2)), name);
  }
  lua_replace(lua, 2);
  lua_settop(lua, 2);
  return lua_tocfunction(lua, lua_upvalueindex(3))(lua);
}

}  // namespace

Host& host_of(lua_State* lua) {
  return **static_cast<Host**>(lua_getextraspace(lua));
}

void new_type(lua_State* lua, const char* type, const Member* members, std::size_t n, lua_CFunction get) {
  luaL_newmetatable(lua, type);
  lua_newtable(lua);
  for (std::size_t i = 0; i < n; ++i) {
    if (members[i].call != nullptr)
      lua_pushcfunction(lua, members[i].call);
    else
      lua_pushinteger(lua, members[i].property);
    lua_setfield(lua, -2, members[i].name);
  }
  lua_pushstring(lua, std::strchr(type, '.') + 1);
  lua_pushcfunction(lua, get);
  lua_pushcclosure(lua, get_member, 3);
  lua_setfield(lua, -2, "__index");
  lua_pushliteral(lua, "profd's own");
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 1);
}

void push_text(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

std::string_view check_text(lua_State* lua, int index) {
  std::size_t n = 0;
  const char* const text = luaL_checklstring(lua, index, &n);
  return {text, n};
}

std::string cell_text(std::string_view text) {
  if (text.size() <= worker::kMaxScriptCell) return std::string(text);
  std::size_t n = worker::kMaxScriptCell - 3;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0u) == 0x80u) --n;
  return std::string(text.substr(0, n)) + "…";
}

void run(Host& host, const worker::ScriptRun& order) {
  lua_State* const lua = lua_newstate(allocate, &host);
  if (lua == nullptr) {
    host.done.error = "there is no memory for a script";
    return;
  }
  *static_cast<Host**>(lua_getextraspace(lua)) = &host;
  // Never closed: what a script left behind gets no last word.
  lua_pushcfunction(lua, on_error);
  lua_pushcfunction(lua, prepare);
  lua_pushlightuserdata(lua, const_cast<worker::ScriptRun*>(&order));
  if (lua_pcall(lua, 1, 0, 1) != LUA_OK) return take_error(lua, host, order.name);
  if (luaL_loadbufferx(lua, order.text.data(), order.text.size(), ("=" + order.name).c_str(), "t") != LUA_OK)
    return take_error(lua, host, order.name);
  if (lua_pcall(lua, 0, 0, 1) != LUA_OK) take_error(lua, host, order.name);
}

ContextEdits edits_of(const Host& host) {
  ContextEdits out;
  std::unordered_map<std::string, std::uint32_t> rows;
  for (const auto& [context, edit] : host.edits) {
    out.contexts.push_back(context);
    out.acts.push_back(edit.act);
    out.into.push_back(edit.into);
    std::uint32_t row = 0;
    if (edit.renamed || !edit.tags.empty()) {
      const ProfileView& view = host.profiles.front();
      std::string name =
          edit.renamed ? edit.name : std::string(view.text(view.function_name[view.function_of(context)]));
      name = cell_text(name + edit.tags);
      const auto [found, is_new] = rows.try_emplace(name, static_cast<std::uint32_t>(out.names.size() + 1));
      if (is_new) out.names.push_back(name);
      row = found->second;
    }
    out.name.push_back(row);
  }
  return out;
}

}  // namespace profd::script
