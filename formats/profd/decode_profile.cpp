#include "formats/profd/decode_profile.h"

#include <bit>

#include "formats/profd/decode_tables.h"
#include "formats/profd/schema.h"

namespace profd::profd_format {
namespace {

struct MetricFields {
  MetricInfo info;
  bool fractional = false;
  std::int64_t total = 0;
  double fractional_total = 0;
};

struct RawValues {
  Column<std::int64_t> ints;
  Column<double> doubles;
  std::uint64_t offset = 0;
};

// Messages in the order they come; put together once the whole profile was seen.
struct Parts {
  std::vector<MetricFields> metrics;
  bool has_tree = false, has_contexts = false, has_self = false, has_samples = false, same_as_samples = false;
  std::vector<RawValues> self_values, sample_values, stated_totals, stated_call_totals;
  Column<std::uint32_t> self_context;
  SampleTable samples;
};

std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

Result<void> read_optional(const Field& field, std::optional<std::int64_t>& to) {
  PROFD_CHECK(expect(field, WireType::varint));
  to = unzigzag(field.value);
  return {};
}

Result<void> read_text(const Field& field, TextReader& texts, std::string& to) {
  PROFD_TRY(to, texts.read(field));
  return {};
}

Result<void> read_bool(const Field& field, bool& to) {
  PROFD_CHECK(expect(field, WireType::varint));
  to = field.value != 0;
  return {};
}

Result<ProfileInfo> decode_info(const Field& message, TextReader& texts) {
  ProfileInfo out;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case info::name:
        return read_text(f, texts, out.name);
      case info::format:
        return read_text(f, texts, out.format);
      case info::producer:
        return read_text(f, texts, out.producer);
      case info::program:
        return read_text(f, texts, out.program);
      case info::time_ns:
        return read_optional(f, out.time_ns);
      case info::duration_ns:
        return read_optional(f, out.duration_ns);
      case info::period:
        return read_optional(f, out.period);
      case info::period_type:
        return read_text(f, texts, out.period_type);
      case info::period_unit:
        return read_text(f, texts, out.period_unit);
      case info::comments:
        return read_text(f, texts, out.comments.emplace_back());
      case info::properties: {
        PROFD_CHECK(expect(f, WireType::bytes));
        auto& property = out.properties.emplace_back();
        return walk(f, [&](const Field& p) -> Result<void> {
          if (p.number == property::key) return read_text(p, texts, property.first);
          if (p.number == property::value) return read_text(p, texts, property.second);
          return {};
        });
      }
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  return out;
}

Result<MetricFields> decode_metric(const Field& message, TextReader& texts) {
  PROFD_CHECK(expect(message, WireType::bytes));
  MetricFields out;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case metric::name:
        return read_text(f, texts, out.info.name);
      case metric::unit:
        return read_text(f, texts, out.info.unit);
      case metric::fractional:
        return read_bool(f, out.fractional);
      case metric::saturated:
        return read_bool(f, out.info.saturated);
      case metric::total:
        PROFD_CHECK(expect(f, WireType::fixed64));
        out.total = std::bit_cast<std::int64_t>(f.value);
        return {};
      case metric::fractional_total:
        PROFD_CHECK(expect(f, WireType::fixed64));
        out.fractional_total = std::bit_cast<double>(f.value);
        return {};
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  return out;
}

Result<void> decode_values(const Field& message, const ColumnBytes::Sink& sink, std::vector<RawValues>& to) {
  PROFD_CHECK(expect(message, WireType::bytes));
  ColumnBytes ints, doubles;
  const auto on_field = [&](const Field& f) -> Result<void> {
    if (f.number == values::ints) return ints.add(f, WireType::fixed64);
    if (f.number == values::doubles) return doubles.add(f, WireType::fixed64);
    return {};
  };
  PROFD_CHECK(walk(message, on_field));
  RawValues out;
  PROFD_TRY(out.ints, ints.take<std::int64_t>(sink, "values.ints"));
  PROFD_TRY(out.doubles, doubles.take<double>(sink, "values.doubles"));
  out.offset = message.offset;
  to.push_back(std::move(out));
  return {};
}

Result<void> decode_tree(const Field& message, const ColumnBytes::Sink& sink, ContextTree& out) {
  ColumnBytes parent, frame, subtree_end;
  const auto on_field = [&](const Field& f) -> Result<void> {
    if (f.number == tree::parent) return parent.add(f, WireType::fixed32);
    if (f.number == tree::frame) return frame.add(f, WireType::fixed32);
    if (f.number == tree::subtree_end) return subtree_end.add(f, WireType::fixed32);
    return {};
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(out.parent, parent.take<std::uint32_t>(sink, "tree.parent"));
  PROFD_TRY(out.frame, frame.take<std::uint32_t>(sink, "tree.frame"));
  PROFD_TRY(out.subtree_end, subtree_end.take<std::uint32_t>(sink, "tree.subtree_end"));
  return {};
}

Result<void> decode_self(const Field& message, const ColumnBytes::Sink& sink, Parts& parts) {
  ColumnBytes context;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case self::same_as_samples:
        return read_bool(f, parts.same_as_samples);
      case self::context:
        return context.add(f, WireType::fixed32);
      case self::values:
        return decode_values(f, sink, parts.self_values);
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(parts.self_context, context.take<std::uint32_t>(sink, "self.context"));
  return {};
}

Result<void> decode_samples(const Field& message, const ColumnBytes::Sink& sink, Parts& parts) {
  ColumnBytes context, label_set, thread, time;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case samples::context:
        return context.add(f, WireType::fixed32);
      case samples::values:
        return decode_values(f, sink, parts.sample_values);
      case samples::label_set:
        return label_set.add(f, WireType::fixed32);
      case samples::thread:
        return thread.add(f, WireType::fixed32);
      case samples::time:
        return time.add(f, WireType::fixed64);
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(parts.samples.context, context.take<std::uint32_t>(sink, "samples.context"));
  PROFD_TRY(parts.samples.label_set, label_set.take<std::uint32_t>(sink, "samples.label_set"));
  PROFD_TRY(parts.samples.thread, thread.take<std::uint32_t>(sink, "samples.thread"));
  PROFD_TRY(parts.samples.time, time.take<std::int64_t>(sink, "samples.time"));
  return {};
}

Result<void> decode_stated(const Field& message, const ColumnBytes::Sink& sink, StatedCosts& out,
                           Parts& parts) {
  ColumnBytes function, known, caller, callee, call_known;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case stated::function:
        return function.add(f, WireType::fixed32);
      case stated::totals:
        return decode_values(f, sink, parts.stated_totals);
      case stated::known:
        return known.set(f);
      case stated::caller:
        return caller.add(f, WireType::fixed32);
      case stated::callee:
        return callee.add(f, WireType::fixed32);
      case stated::call_totals:
        return decode_values(f, sink, parts.stated_call_totals);
      case stated::call_known:
        return call_known.set(f);
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(out.functions.frame, function.take<std::uint32_t>(sink, "stated.function"));
  PROFD_TRY(out.functions.known, known.take<std::uint8_t>(sink, "stated.known"));
  PROFD_TRY(out.calls.caller, caller.take<std::uint32_t>(sink, "stated.caller"));
  PROFD_TRY(out.calls.callee, callee.take<std::uint32_t>(sink, "stated.callee"));
  PROFD_TRY(out.calls.known, call_known.take<std::uint8_t>(sink, "stated.call_known"));
  return {};
}

// Values by metric, each of the kind its metric has and as long as the table.
Result<std::vector<ValueColumn>> settle(std::vector<RawValues> raw, const std::vector<MetricFields>& metrics,
                                        std::size_t n, const char* table, bool may_lack = false) {
  // A table without rows needs no value messages.
  if ((n == 0 || may_lack) && raw.empty()) raw.resize(metrics.size());
  if (raw.size() != metrics.size())
    return fail(ErrorCode::malformed,
                fmt::format("{} has {} value columns for {} metrics", table, raw.size(), metrics.size()));
  std::vector<ValueColumn> out;
  for (std::size_t m = 0; m < raw.size(); ++m) {
    const bool fractional = metrics[m].fractional;
    const std::size_t rows = fractional ? raw[m].doubles.size() : raw[m].ints.size();
    const std::size_t others = fractional ? raw[m].ints.size() : raw[m].doubles.size();
    if (others != 0 || (rows != n && !(may_lack && rows == 0)))
      return fail(ErrorCode::malformed,
                  fmt::format("values of metric {} in {}: {} {} and {} {} for {} rows", m, table,
                              raw[m].ints.size(), "ints", raw[m].doubles.size(), "doubles", n),
                  raw[m].offset);
    if (fractional)
      out.emplace_back(std::move(raw[m].doubles));
    else
      out.emplace_back(std::move(raw[m].ints));
  }
  return out;
}

Result<AssociationTable> decode_association(const Field& message, const ColumnBytes::Sink& sink,
                                            TextReader& texts) {
  PROFD_CHECK(expect(message, WireType::bytes));
  AssociationTable out;
  std::vector<MetricFields> metrics;
  std::vector<RawValues> raw;
  const auto on_field = [&](const Field& f) -> Result<void> {
    switch (f.number) {
      case association::name:
        return read_text(f, texts, out.name);
      case association::roles:
        return read_text(f, texts, out.roles.emplace_back());
      case association::contexts: {
        PROFD_CHECK(expect(f, WireType::bytes));
        PROFD_TRY(auto column, decode_ids(f, sink));
        out.contexts.push_back(std::move(column));
        return {};
      }
      case association::metrics: {
        PROFD_TRY(auto fields, decode_metric(f, texts));
        metrics.push_back(std::move(fields));
        return {};
      }
      case association::values:
        return decode_values(f, sink, raw);
      case association::threads: {
        PROFD_CHECK(expect(f, WireType::bytes));
        PROFD_TRY(auto column, decode_ids(f, sink));
        out.threads.push_back(std::move(column));
        return {};
      }
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  if (out.contexts.size() != out.roles.size())
    return fail(ErrorCode::malformed,
                fmt::format("an association has {} roles and {} columns of contexts", out.roles.size(),
                            out.contexts.size()),
                message.offset);
  if (!out.threads.empty() && out.threads.size() != out.roles.size())
    return fail(ErrorCode::malformed,
                fmt::format("an association has {} roles and {} columns of threads", out.roles.size(),
                            out.threads.size()),
                message.offset);
  for (const auto* columns : {&out.contexts, &out.threads}) {
    for (const auto& column : *columns) {
      if (column.size() != out.size())
        return fail(ErrorCode::malformed, "the roles of an association have columns of different length",
                    message.offset);
    }
  }
  PROFD_TRY(out.values, settle(std::move(raw), metrics, out.size(), "an association"));
  for (auto& m : metrics) out.metrics.push_back(std::move(m.info));
  return out;
}

Result<void> assemble(const Field& message, Parts parts, DecodedProfile& out) {
  ProfileData& d = out.data;
  if (parts.has_tree && parts.has_contexts)
    return fail(ErrorCode::malformed, "the profile has both a tree and contexts", message.offset);
  out.loose = !parts.has_tree;
  if (parts.same_as_samples) {
    if (out.loose || !parts.has_samples || !parts.self_context.empty() || !parts.self_values.empty())
      return fail(ErrorCode::malformed, "self cannot be the same as samples here", message.offset);
  }
  if (out.loose && parts.has_self && parts.has_samples)
    return fail(ErrorCode::malformed, "a profile with contexts has self or samples, not both",
                message.offset);
  if (parts.has_samples) {
    PROFD_TRY(parts.samples.values,
              settle(std::move(parts.sample_values), parts.metrics, parts.samples.context.size(), "samples"));
    d.samples = std::move(parts.samples);
  }
  if (parts.same_as_samples) {
    d.self = {d.samples->context, d.samples->values};
  } else {
    PROFD_TRY(d.self.values,
              settle(std::move(parts.self_values), parts.metrics, parts.self_context.size(), "self"));
    d.self.contexts = std::move(parts.self_context);
  }
  if (d.stated) {
    PROFD_TRY(d.stated->functions.totals, settle(std::move(parts.stated_totals), parts.metrics,
                                                 d.stated->functions.size(), "stated functions", true));
    PROFD_TRY(d.stated->calls.totals, settle(std::move(parts.stated_call_totals), parts.metrics,
                                             d.stated->calls.size(), "stated calls", true));
  }
  for (auto& m : parts.metrics) {
    d.totals.push_back(m.fractional ? Value(m.fractional_total) : Value(m.total));
    d.metrics.push_back(std::move(m.info));
  }
  d.n_samples = out.n_samples.value_or(d.samples ? d.samples->size() : 0);
  return {};
}

Result<bool> has_file_addresses(const Field& message) {
  bool in_modules = false;
  PROFD_CHECK(walk(message, [&](const Field& column) -> Result<void> {
    if (column.number != frames::in_modules) return {};
    in_modules = column.value != 0;
    return expect(column, WireType::varint);
  }));
  return in_modules;
}

template <class T>
Result<void> put(Result<T> decoded, T& to) {
  if (!decoded) return tl::unexpected<Error>(std::move(decoded).error());
  to = std::move(*decoded);
  return {};
}

}  // namespace

Result<DecodedProfile> decode_profile(const Field& message, const ColumnBytes::Sink& sink,
                                      TextReader& texts) {
  DecodedProfile out;
  out.offset = message.offset;
  ProfileData& d = out.data;
  Parts parts;
  std::uint32_t seen = 0;
  const auto on_field = [&](const Field& f) -> Result<void> {
    const bool scalar = f.number == profile::default_metric || f.number == profile::n_samples;
    if (scalar)
      PROFD_CHECK(expect(f, WireType::varint));
    else if (f.number <= profile::branches)
      PROFD_CHECK(expect(f, WireType::bytes));
    // Two messages of one table would have to be merged column by column; nobody writes that.
    const bool once = (f.number <= profile::samples && f.number != profile::metrics) ||
                      f.number == profile::stated || f.number == profile::timeline ||
                      f.number == profile::pieces || f.number == profile::branches;
    if (!scalar && once) {
      if ((seen >> f.number & 1) != 0)
        return fail(ErrorCode::malformed, fmt::format("field {} of a profile comes twice", f.number),
                    f.tag_offset);
      seen |= 1u << f.number;
    }
    switch (f.number) {
      case profile::info:
        return put(decode_info(f, texts), d.info);
      case profile::strings:
        return put(decode_strings(f, sink), d.strings);
      case profile::modules:
        PROFD_CHECK(put(decode_modules(f, sink), d.modules));
        out.in_modules = out.in_modules || !d.modules.addresses.empty();
        return {};
      case profile::functions:
        return put(decode_functions(f, sink), d.functions);
      case profile::frames: {
        PROFD_TRY(const bool in_modules, has_file_addresses(f));
        out.in_modules = out.in_modules || in_modules;
        return put(decode_frames(f, sink), d.frames);
      }
      case profile::pieces:
        return put(decode_pieces(f, sink), d.pieces);
      case profile::branches:
        return put(decode_branches(f, sink), d.branches);
      case profile::threads:
        return put(decode_threads(f, sink), d.threads);
      case profile::labels:
        return put(decode_labels(f, sink), d.labels);
      case profile::metrics: {
        PROFD_TRY(auto fields, decode_metric(f, texts));
        parts.metrics.push_back(std::move(fields));
        return {};
      }
      case profile::default_metric:
        if (f.value >= kNone)
          return fail(ErrorCode::malformed, "the default metric does not exist", f.offset);
        d.default_metric = MetricId{static_cast<std::uint32_t>(f.value)};
        return {};
      case profile::n_samples:
        out.n_samples = f.value;
        return {};
      case profile::tree:
        parts.has_tree = true;
        return decode_tree(f, sink, d.tree);
      case profile::contexts:
        parts.has_contexts = true;
        return decode_tree(f, sink, out.contexts);
      case profile::self:
        parts.has_self = true;
        return decode_self(f, sink, parts);
      case profile::samples:
        parts.has_samples = true;
        return decode_samples(f, sink, parts);
      case profile::associations: {
        PROFD_TRY(auto table, decode_association(f, sink, texts));
        d.associations.push_back(std::move(table));
        return {};
      }
      case profile::stated:
        return decode_stated(f, sink, d.stated.emplace(), parts);
      case profile::timeline:
        return put(decode_timeline(f, sink), d.timeline.emplace());
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_CHECK(assemble(message, std::move(parts), out));
  return out;
}

Result<void> complete_profile(DecodedProfile& profile) {
  ProfileData& d = profile.data;
  PROFD_CHECK(complete_tables(d));
  if (profile.loose && profile.contexts.frame.size() != profile.contexts.parent.size())
    return fail(ErrorCode::malformed, "contexts has columns of different length");
  if (d.samples) {
    const auto fits = [&](std::size_t n) { return n == 0 || n == d.samples->size(); };
    if (!fits(d.samples->label_set.size()) || !fits(d.samples->thread.size()) ||
        !fits(d.samples->time.size()))
      return fail(ErrorCode::malformed, "the columns of samples have different lengths");
  }
  if (d.stated) {
    StatedCosts& stated = *d.stated;
    PROFD_CHECK(complete(stated.functions.known, stated.functions.size(), std::uint8_t{1}, "stated.known"));
    PROFD_CHECK(complete(stated.calls.known, stated.calls.size(), std::uint8_t{1}, "stated.call_known"));
    if (stated.calls.callee.size() != stated.calls.size())
      return fail(ErrorCode::malformed,
                  "the calls that are stated have callers and callees of different number");
  }
  if (d.timeline) return complete_timeline(d, profile.loose);
  return {};
}

}  // namespace profd::profd_format
