#include "workers/fetch_message.h"

#include "workers/message_fields.h"
#include "workers/symbols.fields.h"

namespace profd::worker {
namespace {

constexpr std::size_t kMaxFetchTexts = 100;
constexpr std::size_t kMaxFetchText = 16384;

bool take_short(const Field& field, std::string& to) {
  if (field.wire != Wire::length || field.bytes.left() > kMaxFetchText) return false;
  to = text_of(field);
  return true;
}

bool take_short(const Field& field, std::vector<std::string>& to) {
  return to.size() < kMaxFetchTexts && take_short(field, to.emplace_back());
}

bool take_count(const Field& field, std::uint64_t& to) {
  to = field.value;
  return field.wire == Wire::varint;
}

}  // namespace

std::string encode(const FetchOrder& order) {
  Message out;
  put(out, schema::fetch::build_id, order.build_id);
  for (const std::string& server : order.servers) out.text(schema::fetch::server, server);
  put(out, schema::fetch::folder, order.folder);
  out.varint(schema::fetch::most_bytes, order.most_bytes);
  for (const std::string& variable : order.variables) out.text(schema::fetch::variable, variable);
  return out.bytes();
}

std::string encode(const Fetching& fetching) {
  Message out;
  put(out, schema::fetching::version, fetching.version);
  put(out, schema::fetching::from, fetching.from);
  out.varint(schema::fetching::done, fetching.done);
  out.varint(schema::fetching::total, fetching.total);
  out.varint(schema::fetching::end, static_cast<std::uint64_t>(fetching.end));
  put(out, schema::fetching::why, fetching.why);
  return out.bytes();
}

Result<FetchOrder> decode_fetch_order(std::string_view bytes) {
  FetchOrder order;
  const bool right = each_field(cursor_of(bytes), [&](const Field& field) {
    switch (field.number) {
      case schema::fetch::build_id:
        return take_short(field, order.build_id);
      case schema::fetch::server:
        return take_short(field, order.servers);
      case schema::fetch::folder:
        return take_short(field, order.folder);
      case schema::fetch::most_bytes:
        return take_count(field, order.most_bytes);
      case schema::fetch::variable:
        return take_short(field, order.variables);
      default:
        return true;
    }
  });
  if (!right) return bad("no order to fetch");
  return order;
}

Result<Fetching> decode_fetching(std::string_view bytes) {
  Fetching fetching;
  std::uint64_t end = 0;
  const bool right = each_field(cursor_of(bytes), [&](const Field& field) {
    switch (field.number) {
      case schema::fetching::version:
        return take_short(field, fetching.version);
      case schema::fetching::from:
        return take_short(field, fetching.from);
      case schema::fetching::done:
        return take_count(field, fetching.done);
      case schema::fetching::total:
        return take_count(field, fetching.total);
      case schema::fetching::end:
        return take_count(field, end);
      case schema::fetching::why:
        return take_short(field, fetching.why);
      default:
        return true;
    }
  });
  if (!right || end > static_cast<std::uint64_t>(FetchEnd::unable)) return bad("no answer of who fetches");
  fetching.end = static_cast<FetchEnd>(end);
  return fetching;
}

}  // namespace profd::worker
