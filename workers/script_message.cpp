#include <bit>
#include <cstring>
#include <utility>

#include "workers/frames.h"
#include "workers/message_fields.h"
#include "workers/script.fields.h"
#include "workers/script.h"

namespace profd::worker {
namespace {

using Texts = std::vector<std::string>;

// A script and its arguments; what is read by its own process alone.
constexpr std::size_t kMaxOrderText = std::size_t{1} << 22;

void put_all(Message& to, std::uint32_t field, const Texts& texts) {
  for (const std::string& text : texts) to.text(field, text);
}

// An empty text is one, as rows of other columns lie beside it.
bool take_text(const Field& field, Texts& to, std::size_t most_texts, std::size_t most_bytes) {
  if (field.wire != Wire::length || field.bytes.left() > most_bytes || to.size() >= most_texts) return false;
  to.push_back(text_of(field));
  return true;
}

bool take_text(const Field& field, std::string& to, std::size_t most_bytes) {
  if (field.wire != Wire::length || field.bytes.left() > most_bytes) return false;
  to = text_of(field);
  return true;
}

bool take_doubles(const Field& field, std::vector<double>& to, std::size_t most) {
  Addresses64 bits;
  if (field.bytes.left() / 8 > most || !take(field, bits)) return false;
  for (const std::uint64_t one : bits) to.push_back(std::bit_cast<double>(one));
  return to.size() <= most;
}

// As this machine has them: both ends are on it.
bool take_memory(const Field& field, std::vector<double>& to) {
  const std::size_t n = field.bytes.left() / sizeof(double);
  if (field.wire != Wire::length || n > kMetricPiece || n * sizeof(double) != field.bytes.left())
    return false;
  to.resize(n);
  if (n > 0) std::memcpy(to.data(), field.bytes.p, field.bytes.left());
  return true;
}

void put_doubles(Message& to, std::uint32_t field, const std::vector<double>& values) {
  Addresses64 bits;
  bits.reserve(values.size());
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  to.packed_fixed64(field, bits);
}

Message message_of(const ScriptProfile& profile) {
  Message out;
  put(out, schema::script_profile::name, profile.name);
  put(out, schema::script_profile::program, profile.program);
  out.varint(schema::script_profile::duration, profile.duration_ns);
  out.varint(schema::script_profile::metric, profile.metric);
  put_all(out, schema::script_profile::metric_name, profile.metric_names);
  put_all(out, schema::script_profile::metric_unit, profile.metric_units);
  for (const ScriptRecords& records : profile.records) {
    Message inner;
    put(inner, schema::script_records::name, records.name);
    put_all(inner, schema::script_records::role, records.roles);
    put_all(inner, schema::script_records::metric_name, records.metrics);
    out.message(schema::script_profile::records, inner);
  }
  return out;
}

Message message_of(const ScriptRun& run) {
  Message out;
  put(out, schema::script_run::name, run.name);
  put(out, schema::script_run::text, run.text);
  Numbers types;
  for (const ScriptArgument& argument : run.arguments) {
    out.text(schema::script_run::argument, argument.name);
    out.text(schema::script_run::argument_value, argument.value);
    types.push_back(static_cast<std::uint32_t>(argument.type));
  }
  out.packed(schema::script_run::argument_type, types);
  return out;
}

Message message_of(const ScriptHello& hello) {
  Message out;
  put(out, schema::script_hello::version, hello.version);
  out.varint(schema::script_hello::confined, hello.confined ? 1 : 0);
  return out;
}

Message message_of(const ContextEdits& edits) {
  Message out;
  Numbers acts;
  for (const ContextAct act : edits.acts) acts.push_back(static_cast<std::uint32_t>(act));
  out.packed(schema::script_edits::context, edits.contexts);
  out.packed(schema::script_edits::act, acts);
  out.packed(schema::script_edits::into, edits.into);
  out.packed(schema::script_edits::name, edits.name);
  put_all(out, schema::script_edits::text, edits.names);
  return out;
}

Message message_of(const ScriptMetric& metric) {
  Message out;
  put(out, schema::script_metric::name, metric.name);
  put(out, schema::script_metric::unit, metric.unit);
  const auto* const bytes = reinterpret_cast<const char*>(metric.values.data());
  out.text(schema::script_metric::value, {bytes, metric.values.size() * sizeof(double)});
  return out;
}

Message message_of(const ScriptTable& table) {
  Message out;
  put(out, schema::script_table::title, table.title);
  put_all(out, schema::script_table::column, table.columns);
  put_all(out, schema::script_table::unit, table.units);
  std::vector<double> numbers;
  Numbers kinds;
  for (const ScriptCell& cell : table.cells) {
    out.text(schema::script_table::text, cell.text);
    numbers.push_back(cell.number);
    kinds.push_back(cell.is_number ? 1 : 0);
  }
  put_doubles(out, schema::script_table::number, numbers);
  out.packed(schema::script_table::is_number, kinds);
  out.varint(schema::script_table::left, table.left);
  return out;
}

Message message_of(const ScriptNotes& notes) {
  Message out;
  Numbers lines;
  for (const ScriptNote& note : notes.notes) {
    out.text(schema::script_notes::file, note.file);
    out.text(schema::script_notes::text, note.text);
    lines.push_back(note.line);
  }
  out.packed(schema::script_notes::line, lines);
  return out;
}

Message message_of(const ScriptDone& done) {
  Message out;
  put(out, schema::script_done::error, done.error);
  out.varint(schema::script_done::line, done.line);
  put(out, schema::script_done::text, done.text);
  out.varint(schema::script_done::text_left, done.text_left);
  out.varint(schema::script_done::notes_left, done.notes_left);
  return out;
}

Result<ScriptRecords> records_of(Cursor at) {
  ScriptRecords out;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_records::name:
        return take_text(field, out.name, kMaxOrderText);
      case schema::script_records::role:
        return take_text(field, out.roles, kMaxOrderText, kMaxOrderText);
      case schema::script_records::metric_name:
        return take_text(field, out.metrics, kMaxOrderText, kMaxOrderText);
      default:
        return true;
    }
  });
  if (!right) return bad("records");
  return out;
}

Result<ScriptOrder> profile_of(Cursor at) {
  ScriptProfile out;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_profile::name:
        return take_text(field, out.name, kMaxOrderText);
      case schema::script_profile::program:
        return take_text(field, out.program, kMaxOrderText);
      case schema::script_profile::duration:
        out.duration_ns = field.value;
        return true;
      case schema::script_profile::metric:
        out.metric = static_cast<std::uint32_t>(field.value);
        return true;
      case schema::script_profile::metric_name:
        return take_text(field, out.metric_names, kMaxOrderText, kMaxOrderText);
      case schema::script_profile::metric_unit:
        return take_text(field, out.metric_units, kMaxOrderText, kMaxOrderText);
      case schema::script_profile::records: {
        auto records = records_of(field.bytes);
        if (!records) return false;
        out.records.push_back(std::move(*records));
        return true;
      }
      default:
        return true;
    }
  });
  if (!right || out.metric_names.size() != out.metric_units.size()) return bad("a profile");
  return out;
}

Result<ScriptOrder> run_of(Cursor at) {
  ScriptRun out;
  Texts names, values;
  Numbers types;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_run::name:
        return take_text(field, out.name, kMaxOrderText);
      case schema::script_run::text:
        return take_text(field, out.text, kMaxOrderText);
      case schema::script_run::argument:
        return take_text(field, names, kMaxOrderText, kMaxOrderText);
      case schema::script_run::argument_value:
        return take_text(field, values, kMaxOrderText, kMaxOrderText);
      case schema::script_run::argument_type:
        return take(field, types);
      default:
        return true;
    }
  });
  if (!right || names.size() != values.size() || names.size() != types.size()) return bad("a run");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (types[i] >= kNScriptTypes) return bad("the type of an argument");
    out.arguments.push_back({names[i], static_cast<ScriptType>(types[i]), values[i]});
  }
  return out;
}

Result<ScriptReport> hello_of(Cursor at) {
  ScriptHello out;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::script_hello::version) return take_text(field, out.version, kMaxScriptCell);
    if (field.number == schema::script_hello::confined) out.confined = field.value != 0;
    return true;
  });
  if (!right) return bad("a greeting");
  return out;
}

Result<ScriptReport> edits_of(Cursor at) {
  ContextEdits out;
  Numbers acts;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_edits::context:
        return take(field, out.contexts);
      case schema::script_edits::act:
        return take(field, acts);
      case schema::script_edits::into:
        return take(field, out.into);
      case schema::script_edits::name:
        return take(field, out.name);
      case schema::script_edits::text:
        return take_text(field, out.names, kMaxFrame, kMaxScriptCell);
      default:
        return true;
    }
  });
  const std::size_t n = out.contexts.size();
  if (!right || acts.size() != n || out.into.size() != n || out.name.size() != n) return bad("edits");
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (out.contexts[i] <= last || acts[i] >= kNContextActs || out.name[i] > out.names.size())
      return bad("an edit");
    if (acts[i] == static_cast<std::uint32_t>(ContextAct::merge) && out.into[i] >= out.contexts[i])
      return bad("a merge");
    last = out.contexts[i];
    out.acts.push_back(static_cast<ContextAct>(acts[i]));
  }
  return out;
}

Result<ScriptReport> metric_of(Cursor at) {
  ScriptMetric out;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_metric::name:
        return take_text(field, out.name, kMaxScriptCell);
      case schema::script_metric::unit:
        return take_text(field, out.unit, kMaxScriptCell);
      case schema::script_metric::value:
        return take_memory(field, out.values);
      default:
        return true;
    }
  });
  if (!right) return bad("a metric");
  return out;
}

Result<ScriptReport> table_of(Cursor at) {
  ScriptTable out;
  Texts texts;
  std::vector<double> numbers;
  Numbers kinds;
  constexpr std::size_t kMaxCells = kMaxScriptRows * kMaxScriptColumns;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_table::title:
        return take_text(field, out.title, kMaxScriptCell);
      case schema::script_table::column:
        return take_text(field, out.columns, kMaxScriptColumns, kMaxScriptCell);
      case schema::script_table::unit:
        return take_text(field, out.units, kMaxScriptColumns, kMaxScriptCell);
      case schema::script_table::text:
        return take_text(field, texts, kMaxCells, kMaxScriptCell);
      case schema::script_table::number:
        return take_doubles(field, numbers, kMaxCells);
      case schema::script_table::is_number:
        return take(field, kinds);
      case schema::script_table::left:
        out.left = field.value;
        return true;
      default:
        return true;
    }
  });
  const std::size_t n = texts.size(), n_columns = out.columns.size();
  if (!right || n_columns == 0 || out.units.size() != n_columns || numbers.size() != n || kinds.size() != n ||
      n % n_columns != 0 || n / n_columns > kMaxScriptRows)
    return bad("a table");
  for (std::size_t i = 0; i < n; ++i) out.cells.push_back({std::move(texts[i]), numbers[i], kinds[i] != 0});
  return out;
}

Result<ScriptReport> notes_of(Cursor at) {
  ScriptNotes out;
  Texts files, texts;
  Numbers lines;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_notes::file:
        return take_text(field, files, kMaxScriptNotes, kMaxScriptCell);
      case schema::script_notes::text:
        return take_text(field, texts, kMaxScriptNotes, kMaxScriptCell);
      case schema::script_notes::line:
        return take(field, lines);
      default:
        return true;
    }
  });
  if (!right || files.size() != texts.size() || files.size() != lines.size()) return bad("annotations");
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (lines[i] == 0) return bad("the line of an annotation");
    out.notes.push_back({std::move(files[i]), lines[i], std::move(texts[i])});
  }
  return out;
}

Result<ScriptReport> done_of(Cursor at) {
  ScriptDone out;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::script_done::error:
        return take_text(field, out.error, kMaxScriptCell);
      case schema::script_done::line:
        out.line = static_cast<std::uint32_t>(field.value);
        return true;
      case schema::script_done::text:
        return take_text(field, out.text, kMaxScriptText);
      case schema::script_done::text_left:
        out.text_left = field.value;
        return true;
      case schema::script_done::notes_left:
        out.notes_left = field.value;
        return true;
      default:
        return true;
    }
  });
  if (!right) return bad("the end of a script");
  return out;
}

}  // namespace

std::string encode(const ScriptOrder& order) {
  Message out;
  if (const auto* profile = std::get_if<ScriptProfile>(&order))
    out.message(schema::script_order::profile, message_of(*profile));
  else
    out.message(schema::script_order::run, message_of(std::get<ScriptRun>(order)));
  return out.bytes();
}

std::string encode(const ScriptReport& report) {
  // The numbers of the schema's members, in the order of the variant.
  constexpr std::uint32_t kMembers[] = {schema::script_report::hello,  schema::script_report::edits,
                                        schema::script_report::metric, schema::script_report::table,
                                        schema::script_report::notes,  schema::script_report::done};
  Message out;
  std::visit([&](const auto& one) { out.message(kMembers[report.index()], message_of(one)); }, report);
  return out.bytes();
}

Result<ScriptOrder> decode_script_order(std::string_view bytes) {
  Cursor at = cursor_of(bytes);
  Field field;
  if (!protobuf::read_field(at, field) || field.wire != Wire::length) return bad("an order");
  switch (field.number) {
    case schema::script_order::profile:
      return profile_of(field.bytes);
    case schema::script_order::run:
      return run_of(field.bytes);
    default:
      return bad("an order of another kind");
  }
}

Result<ScriptReport> decode_script_report(std::string_view bytes) {
  Cursor at = cursor_of(bytes);
  Field field;
  if (!protobuf::read_field(at, field) || field.wire != Wire::length) return bad("a report");
  switch (field.number) {
    case schema::script_report::hello:
      return hello_of(field.bytes);
    case schema::script_report::edits:
      return edits_of(field.bytes);
    case schema::script_report::metric:
      return metric_of(field.bytes);
    case schema::script_report::table:
      return table_of(field.bytes);
    case schema::script_report::notes:
      return notes_of(field.bytes);
    case schema::script_report::done:
      return done_of(field.bytes);
    default:
      return bad("a report of another kind");
  }
}

}  // namespace profd::worker
