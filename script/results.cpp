// What a script gives: text, tables, annotations.
#include <algorithm>
#include <cmath>

#include "script/host.h"

namespace profd::script {
namespace {

// All tables together: they travel in messages of a bounded size.
constexpr std::size_t kMaxTableBytes = std::size_t{16} << 20;

int print(lua_State* lua) {
  Host& host = host_of(lua);
  const int n = lua_gettop(lua);
  for (int i = 1; i <= n + 1; ++i) {
    std::string_view piece = "\n";
    if (i <= n) {
      std::size_t size = 0;
      const char* const text = luaL_tolstring(lua, i, &size);
      piece = {text, size};
    }
    const std::size_t room = worker::kMaxScriptText - host.done.text.size();
    host.done.text += piece.substr(0, room);
    host.done.text_left += piece.size() - std::min(piece.size(), room);
    if (i < n && host.done.text.size() < worker::kMaxScriptText) host.done.text += '\t';
    if (i <= n) lua_pop(lua, 1);
  }
  return 0;
}

// The text at the top of the stack, which is popped.
std::string pop_text(lua_State* lua, const char* what) {
  if (lua_type(lua, -1) != LUA_TSTRING)
    luaL_error(lua, "%s is a %s, not a text", what, luaL_typename(lua, -1));
  std::size_t n = 0;
  const char* const text = lua_tolstring(lua, -1, &n);
  std::string out = cell_text({text, n});
  lua_pop(lua, 1);
  return out;
}

void take_columns(lua_State* lua, worker::ScriptTable& table) {
  if (lua_getfield(lua, 1, "columns") != LUA_TTABLE)
    luaL_error(lua, "a table needs `columns`: a list of titles, or of {title, unit}");
  const auto n = static_cast<lua_Integer>(lua_rawlen(lua, -1));
  if (n < 1 || n > static_cast<lua_Integer>(worker::kMaxScriptColumns))
    luaL_error(lua, "a table has 1 to %d columns", static_cast<int>(worker::kMaxScriptColumns));
  for (lua_Integer i = 1; i <= n; ++i) {
    std::string unit;
    if (lua_rawgeti(lua, -1, i) == LUA_TTABLE) {
      if (lua_rawgeti(lua, -1, 2) == LUA_TNIL)
        lua_pop(lua, 1);
      else
        unit = pop_text(lua, "the unit of a column");
      lua_rawgeti(lua, -1, 1);
      lua_remove(lua, -2);
    }
    table.columns.push_back(pop_text(lua, "the title of a column"));
    table.units.push_back(std::move(unit));
  }
  lua_pop(lua, 1);
}

worker::ScriptCell pop_cell(lua_State* lua) {
  worker::ScriptCell cell;
  switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
      cell.number = lua_tonumber(lua, -1);
      cell.is_number = std::isfinite(cell.number);
      if (!cell.is_number) cell.text = "-";
      lua_pop(lua, 1);
      return cell;
    case LUA_TNIL:
      lua_pop(lua, 1);
      return cell;
    case LUA_TBOOLEAN:
      cell.text = lua_toboolean(lua, -1) != 0 ? "yes" : "no";
      lua_pop(lua, 1);
      return cell;
    case LUA_TUSERDATA:
      luaL_tolstring(lua, -1, nullptr);
      lua_remove(lua, -2);
      break;
    default:
      break;
  }
  cell.text = pop_text(lua, "a cell of a table");
  return cell;
}

int show_table(lua_State* lua) {
  Host& host = host_of(lua);
  luaL_checktype(lua, 1, LUA_TTABLE);
  if (host.tables.size() >= worker::kMaxScriptTables)
    return luaL_error(lua, "a script shows at most %d tables", static_cast<int>(worker::kMaxScriptTables));
  worker::ScriptTable table;
  if (lua_getfield(lua, 1, "title") != LUA_TNIL)
    table.title = pop_text(lua, "the title of a table");
  else
    lua_pop(lua, 1);
  take_columns(lua, table);
  if (lua_getfield(lua, 1, "rows") != LUA_TTABLE)
    return luaL_error(lua, "a table needs `rows`: a list of lists of cells");
  const auto n = static_cast<lua_Integer>(lua_rawlen(lua, -1));
  const auto shown = std::min(n, static_cast<lua_Integer>(worker::kMaxScriptRows));
  table.left = static_cast<std::uint64_t>(n - shown);
  for (lua_Integer row = 1; row <= shown; ++row) {
    if (lua_rawgeti(lua, -1, row) != LUA_TTABLE)
      return luaL_error(lua, "row %d of a table is no list", static_cast<int>(row));
    for (std::size_t column = 1; column <= table.columns.size(); ++column) {
      lua_rawgeti(lua, -1, static_cast<lua_Integer>(column));
      table.cells.push_back(pop_cell(lua));
      host.table_bytes += 32 + table.cells.back().text.size();
    }
    lua_pop(lua, 1);
    if (host.table_bytes > kMaxTableBytes)
      return luaL_error(lua, "the texts of the tables are longer than 16 MiB");
  }
  host.tables.push_back(std::move(table));
  return 0;
}

int annotate(lua_State* lua) {
  Host& host = host_of(lua);
  worker::ScriptNote note;
  note.file = cell_text(check_text(lua, 1));
  const lua_Integer line = luaL_checkinteger(lua, 2);
  luaL_argcheck(lua, line >= 1 && line <= 0x7FFFFFFF, 2, "lines count from 1");
  luaL_argcheck(lua, !note.file.empty(), 1, "a file is needed");
  note.line = static_cast<std::uint32_t>(line);
  note.text = cell_text(check_text(lua, 3));
  if (host.notes.size() < worker::kMaxScriptNotes)
    host.notes.push_back(std::move(note));
  else
    ++host.done.notes_left;
  return 0;
}

}  // namespace

void open_results(lua_State* lua) {
  lua_register(lua, "print", print);
  lua_register(lua, "show_table", show_table);
  lua_register(lua, "annotate", annotate);
}

}  // namespace profd::script
