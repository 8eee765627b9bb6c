// Columns: values by node of a profile. What is written as `a * 2 + b` is one sweep here for each sign.
#include <cmath>
#include <iterator>

#include "script/host.h"

namespace profd::script {
namespace {

// A column, or a number that stands for one of equal values.
struct Operand {
  ColumnRef* column = nullptr;
  double number = 0;
};

Operand operand(lua_State* lua, int index) {
  if (lua_type(lua, index) == LUA_TNUMBER) return {nullptr, lua_tonumber(lua, index)};
  return {&check_column(lua, index), 0};
}

template <class Op>
int sweep(lua_State* lua, Op op) {
  const Operand a = operand(lua, 1), b = operand(lua, 2);
  const ColumnRef& like = a.column != nullptr ? *a.column : *b.column;
  if (a.column != nullptr && b.column != nullptr && a.column->profile != b.column->profile)
    return luaL_error(lua, "columns of two profiles are of different nodes");
  ColumnRef& out = push_column(lua, like.profile);
  double* const to = out.values();
  const std::uint32_t n = out.n;
  if (a.column != nullptr && b.column != nullptr) {
    const double *x = a.column->values(), *y = b.column->values();
    for (std::uint32_t i = 0; i < n; ++i) to[i] = op(x[i], y[i]);
  } else if (a.column != nullptr) {
    const double* x = a.column->values();
    for (std::uint32_t i = 0; i < n; ++i) to[i] = op(x[i], b.number);
  } else {
    const double* y = b.column->values();
    for (std::uint32_t i = 0; i < n; ++i) to[i] = op(a.number, y[i]);
  }
  return 1;
}

int add(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a + b; });
}
int subtract(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a - b; });
}
int multiply(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a * b; });
}
int divide(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a / b; });
}
int negate(lua_State* lua) {
  lua_settop(lua, 1);
  lua_pushnumber(lua, -1);
  return multiply(lua);
}
int above(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a > b ? 1.0 : 0.0; });
}
int below(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return a < b ? 1.0 : 0.0; });
}
int least(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return b < a ? b : a; });
}
int most(lua_State* lua) {
  return sweep(lua, [](double a, double b) { return b > a ? b : a; });
}
int or_zero(lua_State* lua) {
  check_column(lua, 1);
  lua_settop(lua, 1);
  lua_pushnumber(lua, 0);
  return sweep(lua, [](double a, double b) { return std::isfinite(a) ? a : b; });
}

int sum(lua_State* lua) {
  ColumnRef& of = check_column(lua, 1);
  double out = 0;
  for (std::uint32_t i = 0; i < of.n; ++i) out += of.values()[i];
  lua_pushnumber(lua, out);
  return 1;
}

int at(lua_State* lua) {
  ColumnRef& of = check_column(lua, 1);
  const NodeRef node = check_node(lua, 2);
  if (node.profile != of.profile)
    return luaL_error(lua, "a column of one profile has no values of another's nodes");
  lua_pushnumber(lua, of.values()[node.context]);
  return 1;
}

int map(lua_State* lua) {
  ColumnRef& of = check_column(lua, 1);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  lua_settop(lua, 2);
  ColumnRef& out = push_column(lua, of.profile);
  for (std::uint32_t i = 0; i < of.n; ++i) {
    lua_pushvalue(lua, 2);
    lua_pushnumber(lua, of.values()[i]);
    lua_pushinteger(lua, i);
    lua_call(lua, 2, 1);
    int is_number = 0;
    out.values()[i] = lua_tonumberx(lua, -1, &is_number);
    if (is_number == 0)
      return luaL_error(lua, "the function of map() gives a number, not a %s", luaL_typename(lua, -1));
    lua_pop(lua, 1);
  }
  return 1;
}

int no_property(lua_State*) {
  return 0;
}

constexpr Member kMembers[] = {
    {"above", above, 0},     {"below", below, 0}, {"least", least, 0}, {"most", most, 0},
    {"or_zero", or_zero, 0}, {"sum", sum, 0},     {"at", at, 0},       {"map", map, 0},
};

}  // namespace

ColumnRef& push_column(lua_State* lua, std::uint32_t profile) {
  const std::uint32_t n = host_of(lua).profiles[profile].n_contexts();
  auto& column = *static_cast<ColumnRef*>(
      lua_newuserdatauv(lua, sizeof(ColumnRef) + std::size_t{n} * sizeof(double), 0));
  column = {profile, n};
  luaL_setmetatable(lua, kColumnType);
  return column;
}

ColumnRef& check_column(lua_State* lua, int index) {
  return *static_cast<ColumnRef*>(luaL_checkudata(lua, index, kColumnType));
}

void open_columns(lua_State* lua) {
  new_type(lua, kColumnType, kMembers, std::size(kMembers), no_property);
  luaL_getmetatable(lua, kColumnType);
  constexpr luaL_Reg kSigns[] = {{"__add", add},    {"__sub", subtract}, {"__mul", multiply},
                                 {"__div", divide}, {"__unm", negate},   {nullptr, nullptr}};
  luaL_setfuncs(lua, kSigns, 0);
  lua_pop(lua, 1);
}

}  // namespace profd::script
