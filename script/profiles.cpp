// Profiles, their samples and records.
#include <cmath>
#include <iterator>
#include <limits>

#include "core/support/id.h"
#include "script/host.h"

namespace profd::script {
namespace {

constexpr std::int64_t kNoTimeOfSample = std::numeric_limits<std::int64_t>::min();

struct SampleRef {
  std::uint32_t profile;
  std::uint32_t row;
};

std::uint32_t check_profile(lua_State* lua, int index) {
  return *static_cast<std::uint32_t*>(luaL_checkudata(lua, index, kProfileType));
}
ProfileView& view_at(lua_State* lua, int index) {
  return host_of(lua).profiles[check_profile(lua, index)];
}

enum ProfileProperty : int {
  profile_name,
  program,
  duration,
  metric,
  metrics,
  unit,
  root,
  n_nodes,
  n_samples
};

int get_of_profile(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1);
  const ProfileView& view = host_of(lua).profiles[profile];
  const worker::ScriptProfile& about = view.about();
  switch (static_cast<ProfileProperty>(lua_tointeger(lua, 2))) {
    case profile_name:
      push_text(lua, about.name);
      break;
    case program:
      push_text(lua, about.program);
      break;
    case duration:
      if (about.duration_ns == 0)
        lua_pushnil(lua);
      else
        lua_pushinteger(lua, static_cast<lua_Integer>(about.duration_ns));
      break;
    case metric:
      push_text(lua, about.metric_names[about.metric]);
      break;
    case unit:
      push_text(lua, about.metric_units[about.metric]);
      break;
    case metrics:
      lua_newtable(lua);
      for (std::size_t i = 0; i < about.metric_names.size(); ++i) {
        lua_newtable(lua);
        push_text(lua, about.metric_names[i]);
        lua_setfield(lua, -2, "name");
        push_text(lua, about.metric_units[i]);
        lua_setfield(lua, -2, "unit");
        lua_rawseti(lua, -2, static_cast<lua_Integer>(i + 1));
      }
      break;
    case root:
      push_node(lua, profile, 0);
      break;
    case n_nodes:
      lua_pushinteger(lua, view.n_contexts());
      break;
    case n_samples:
      lua_pushinteger(lua, static_cast<lua_Integer>(view.sample_context.size()));
      break;
  }
  return 1;
}

int total(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1), metric_id = check_metric(lua, 2, profile);
  push_value(lua, host_of(lua).profiles[profile].total(metric_id), 0);
  return 1;
}

int has_metric(lua_State* lua) {
  lua_pushboolean(lua, view_at(lua, 1).find_metric(check_text(lua, 2)) ? 1 : 0);
  return 1;
}

int column_of(lua_State* lua, const Values& values, std::uint32_t profile) {
  ColumnRef& out = push_column(lua, profile);
  double* const to = out.values();
  std::visit(
      [&](const auto& from) {
        for (std::uint32_t i = 0; i < out.n; ++i) to[i] = static_cast<double>(from[i]);
      },
      values);
  return 1;
}

int self_column(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1), metric_id = check_metric(lua, 2, profile);
  return column_of(lua, host_of(lua).profiles[profile].self(metric_id), profile);
}

int total_column(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1), metric_id = check_metric(lua, 2, profile);
  return column_of(lua, host_of(lua).profiles[profile].total(metric_id), profile);
}

int add_metric(lua_State* lua) {
  Host& host = host_of(lua);
  if (check_profile(lua, 1) != 0) return luaL_error(lua, "metrics are added to the first profile");
  worker::ScriptMetric made;
  made.name = cell_text(check_text(lua, 2));
  ColumnRef& column = check_column(lua, 3);
  if (!lua_isnoneornil(lua, 4)) made.unit = cell_text(check_text(lua, 4));
  if (column.profile != 0) return luaL_error(lua, "the column is of another profile's nodes");
  if (made.name.empty()) return luaL_error(lua, "a metric needs a name");
  if (host.metrics.size() >= worker::kMaxScriptMetrics)
    return luaL_error(lua, "a script adds at most %d metrics", static_cast<int>(worker::kMaxScriptMetrics));
  if (host.profiles[0].find_metric(made.name))
    return luaL_error(lua, "the profile has a metric of that name");
  for (const worker::ScriptMetric& one : host.metrics)
    if (one.name == made.name) return luaL_error(lua, "the script has added a metric of that name");
  std::size_t bad = 0;
  for (std::uint32_t i = 0; i < column.n; ++i) bad += std::isfinite(column.values()[i]) ? 0 : 1;
  if (bad > 0)
    return luaL_error(lua, "%I of %d nodes have no value: something was divided by 0; or_zero() makes it 0",
                      static_cast<LUAI_UACINT>(bad), static_cast<int>(column.n));
  made.values.assign(column.values(), column.values() + column.n);
  host.metrics.push_back(std::move(made));
  return 0;
}

// What `for` takes to go through all of a profile: next, the profile, and nothing to begin with.
template <lua_CFunction next>
int all_of(lua_State* lua) {
  check_profile(lua, 1);
  lua_pushcfunction(lua, next);
  lua_pushvalue(lua, 1);
  lua_pushnil(lua);
  return 3;
}

int next_node(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1);
  const auto at = lua_type(lua, 2) == LUA_TNIL ? 0u : check_node(lua, 2).context + 1;
  if (at >= host_of(lua).profiles[profile].n_contexts()) return 0;
  push_node(lua, profile, at);
  return 1;
}


// visit(function, {min_share =, metric =}): every node whose total is as large, callers first.
int visit(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1);
  luaL_checktype(lua, 2, LUA_TFUNCTION);
  Host& host = host_of(lua);
  ProfileView& view = host.profiles[profile];
  double min_share = 0.0001;
  std::uint32_t metric_id = view.about().metric;
  if (!lua_isnoneornil(lua, 3)) {
    luaL_checktype(lua, 3, LUA_TTABLE);
    if (lua_getfield(lua, 3, "min_share") != LUA_TNIL) {
      int is_number = 0;
      min_share = lua_tonumberx(lua, -1, &is_number);
      luaL_argcheck(lua, is_number != 0 && min_share >= 0 && min_share <= 1, 3, "min_share is 0 to 1");
    }
    lua_getfield(lua, 3, "metric");
    metric_id = check_metric(lua, -1, profile);
  }
  const Values& totals = view.total(metric_id);
  // Below a sum of values of both signs anything can be.
  const double least = view.has_negative(metric_id) ? 0 : min_share * view.grand_total(metric_id);
  lua_Integer visited = 0, skipped = 0;
  for (std::uint32_t c = 1; c < view.n_contexts();) {
    if (std::fabs(as_double(totals, c)) < least) {
      skipped += view.end[c] - c;
      c = view.end[c];
      continue;
    }
    ++visited;
    lua_pushvalue(lua, 2);
    push_node(lua, profile, c);
    lua_call(lua, 1, 0);
    bool below = true;
    if (profile == 0)
      if (const auto found = host.edits.find(c); found != host.edits.end())
        below = found->second.act != ContextAct::stop && found->second.act != ContextAct::drop;
    c = below ? c + 1 : view.end[c];
  }
  lua_pushinteger(lua, visited);
  lua_pushinteger(lua, skipped);
  return 2;
}

void set(lua_State* lua, const char* field, std::string_view text) {
  push_text(lua, text);
  lua_setfield(lua, -2, field);
}

int functions(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1), metric_id = check_metric(lua, 2, profile);
  ProfileView& view = host_of(lua).profiles[profile];
  const std::vector<FunctionSum> sums = view.functions(metric_id);
  lua_createtable(lua, static_cast<int>(sums.size()), 0);
  lua_Integer n = 0;
  for (const FunctionSum& sum : sums) {
    lua_createtable(lua, 0, 5);
    set(lua, "name", view.text(view.function_name[sum.function]));
    set(lua, "file", view.text(view.function_file[sum.function]));
    lua_pushinteger(lua, view.function_line[sum.function]);
    lua_setfield(lua, -2, "line");
    lua_pushnumber(lua, sum.self);
    lua_setfield(lua, -2, "self");
    lua_pushnumber(lua, sum.total);
    lua_setfield(lua, -2, "total");
    lua_rawseti(lua, -2, ++n);
  }
  return 1;
}

SampleRef check_sample(lua_State* lua, int index) {
  return *static_cast<SampleRef*>(luaL_checkudata(lua, index, kSampleType));
}
void push_sample(lua_State* lua, std::uint32_t profile, std::uint32_t row) {
  *static_cast<SampleRef*>(lua_newuserdatauv(lua, sizeof(SampleRef), 0)) = {profile, row};
  luaL_setmetatable(lua, kSampleType);
}

enum SampleProperty : int { node, thread, process, tid, pid, time };

int get_of_sample(lua_State* lua) {
  const SampleRef sample = check_sample(lua, 1);
  const ProfileView& view = host_of(lua).profiles[sample.profile];
  const auto property = static_cast<SampleProperty>(lua_tointeger(lua, 2));
  if (property == node) {
    push_node(lua, sample.profile, view.sample_context[sample.row]);
    return 1;
  }
  if (property == time) {
    if (view.sample_time.empty() || view.sample_time[sample.row] == kNoTimeOfSample)
      lua_pushnil(lua);
    else
      lua_pushinteger(lua, view.sample_time[sample.row]);
    return 1;
  }
  const std::uint32_t of = view.sample_thread.empty() ? kNone : view.sample_thread[sample.row];
  if (of == kNone)
    lua_pushnil(lua);
  else if (property == thread)
    push_text(lua, view.text(view.thread_name[of]));
  else if (property == process)
    push_text(lua, view.text(view.thread_process[of]));
  else
    lua_pushinteger(lua, property == tid ? view.thread_tid[of] : view.thread_pid[of]);
  return 1;
}

int value_of_sample(lua_State* lua) {
  const SampleRef sample = check_sample(lua, 1);
  const std::uint32_t metric_id = check_metric(lua, 2, sample.profile);
  push_value(lua, host_of(lua).profiles[sample.profile].sample_values[metric_id], sample.row);
  return 1;
}

int label_of_sample(lua_State* lua) {
  const SampleRef sample = check_sample(lua, 1);
  const std::string_view key = check_text(lua, 2);
  const ProfileView& view = host_of(lua).profiles[sample.profile];
  const std::uint32_t labels = view.sample_labels.empty() ? 0 : view.sample_labels[sample.row];
  if (std::size_t{labels} + 1 >= view.label_first.size()) return 0;
  for (std::uint32_t i = view.label_first[labels]; i < view.label_first[labels + 1]; ++i) {
    if (view.text(view.label_key[i]) != key) continue;
    if (view.label_is_number[i] != 0)
      lua_pushinteger(lua, view.label_number[i]);
    else
      push_text(lua, view.text(view.label_text[i]));
    return 1;
  }
  return 0;
}

int next_sample(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, 1);
  const auto at = lua_type(lua, 2) == LUA_TNIL ? 0u : check_sample(lua, 2).row + 1;
  if (at >= host_of(lua).profiles[profile].sample_context.size()) return 0;
  push_sample(lua, profile, at);
  return 1;
}

// A table for the row after the last of the upvalues: {kind =, nodes = {role = node}, values = {metric =
// number}}.
int next_record(lua_State* lua) {
  const std::uint32_t profile = check_profile(lua, lua_upvalueindex(1));
  auto table = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(2)));
  auto row = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(3)));
  const ProfileView& view = host_of(lua).profiles[profile];
  while (table < view.records.size() && row >= view.records[table].n) {
    ++table;
    row = 0;
  }
  if (table >= view.records.size()) return 0;
  const RecordColumns& records = view.records[table];
  const worker::ScriptRecords& about = view.about().records[table];
  lua_createtable(lua, 0, 3);
  set(lua, "kind", about.name);
  lua_newtable(lua);
  for (std::size_t role = 0; role < about.roles.size(); ++role) {
    const std::uint32_t context = records.contexts[role][row];
    if (context == kNone) continue;
    push_text(lua, about.roles[role]);
    push_node(lua, profile, context);
    lua_rawset(lua, -3);
  }
  lua_setfield(lua, -2, "nodes");
  lua_newtable(lua);
  for (std::size_t m = 0; m < about.metrics.size(); ++m) {
    push_text(lua, about.metrics[m]);
    push_value(lua, records.values[m], row);
    lua_rawset(lua, -3);
  }
  lua_setfield(lua, -2, "values");
  lua_pushinteger(lua, static_cast<lua_Integer>(table));
  lua_replace(lua, lua_upvalueindex(2));
  lua_pushinteger(lua, static_cast<lua_Integer>(row + 1));
  lua_replace(lua, lua_upvalueindex(3));
  return 1;
}

int records(lua_State* lua) {
  check_profile(lua, 1);
  lua_pushvalue(lua, 1);
  lua_pushinteger(lua, 0);
  lua_pushinteger(lua, 0);
  lua_pushcclosure(lua, next_record, 3);
  return 1;
}

constexpr Member kProfileMembers[] = {
    {"name", nullptr, profile_name},
    {"program", nullptr, program},
    {"duration", nullptr, duration},
    {"metric", nullptr, metric},
    {"unit", nullptr, unit},
    {"metrics", nullptr, metrics},
    {"root", nullptr, root},
    {"n_nodes", nullptr, n_nodes},
    {"n_samples", nullptr, n_samples},
    {"has_metric", has_metric, 0},
    {"total", total, 0},
    {"self", self_column, 0},
    {"totals", total_column, 0},
    {"add_metric", add_metric, 0},
    {"nodes", all_of<next_node>, 0},
    {"visit", visit, 0},
    {"functions", functions, 0},
    {"samples", all_of<next_sample>, 0},
    {"records", records, 0},
};
constexpr Member kSampleMembers[] = {
    {"node", nullptr, node},       {"thread", nullptr, thread},   {"process", nullptr, process},
    {"tid", nullptr, tid},         {"pid", nullptr, pid},         {"time", nullptr, time},
    {"value", value_of_sample, 0}, {"label", label_of_sample, 0},
};

}  // namespace

std::uint32_t check_metric(lua_State* lua, int index, std::uint32_t profile) {
  const ProfileView& view = host_of(lua).profiles[profile];
  if (lua_isnoneornil(lua, index)) return view.about().metric;
  const std::string_view name = check_text(lua, index);
  const auto found = view.find_metric(name);
  if (!found) luaL_error(lua, "the profile has no metric `%s`", std::string(name).c_str());
  return *found;
}

void open_profiles(lua_State* lua) {
  new_type(lua, kProfileType, kProfileMembers, std::size(kProfileMembers), get_of_profile);
  new_type(lua, kSampleType, kSampleMembers, std::size(kSampleMembers), get_of_sample);
  lua_newtable(lua);
  for (std::uint32_t i = 0; i < host_of(lua).profiles.size(); ++i) {
    *static_cast<std::uint32_t*>(lua_newuserdatauv(lua, sizeof(std::uint32_t), 0)) = i;
    luaL_setmetatable(lua, kProfileType);
    if (i == 0) {
      lua_pushvalue(lua, -1);
      lua_setglobal(lua, "profile");
    }
    lua_rawseti(lua, -2, lua_Integer{i} + 1);
  }
  lua_setglobal(lua, "profiles");
}

}  // namespace profd::script
