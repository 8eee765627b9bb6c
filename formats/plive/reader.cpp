// A live stream as it was received: what agents of running programs send, written to a file. Declared in
// protocol/live.json; read by the same means as a live session (core/live/session.h).
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/live/live_profile.h"
#include "core/live/session.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".plive"};
constexpr ReaderNotes kNotes{
    .versions = "version 1 of the live stream",
    .keeps = "time of each calling context itself and calls, by thread; files, first lines, modules",
    .recording = "profd live --record out.plive",
    .verified = "against an account of every interval of random streams",
};
constexpr std::size_t kPiece = std::size_t{1} << 20;

void count(ReadContext& context, std::string_view kind, Severity severity, std::string_view message,
           std::uint64_t n) {
  if (n > 0) context.report.add(kind, severity, message, std::nullopt, n);
}

void report(const live::Session& session, ReadContext& context) {
  const live::Counts& counts = session.meter().counts();
  count(context, "lost-events", Severity::loss,
        "The agent dropped events; the time in which it did is [events were lost].", counts.lost);
  count(context, "late-events", Severity::loss,
        "Events came after their time was closed; they were moved to its end.", counts.late);
  count(context, "time-steps", Severity::info, "Times before those of the event before were held still.",
        counts.steps);
  count(context, "unmatched-exits", Severity::info, "Methods were left that were not open.",
        counts.unmatched);
  count(context, "beyond-limits", Severity::loss,
        "Events were beyond the limits of methods, threads or depth.", counts.capped);
  count(context, "more-contexts", Severity::loss,
        "Calls stand in [more calling contexts]: there are more contexts than are kept apart.",
        session.meter().contexts().n_refused());
  count(context, "unknown-operations", Severity::info, "Records have operations that are not known.",
        counts.unknown_operations);
  count(context, "beyond-limits-names", Severity::loss,
        "Methods or names were beyond the limits and have none.", session.methods().n_capped());
}

class PliveReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"plive", "live stream", kExtensions, 47, "agents of profd", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return live::begins_stream(prefix) == live::StreamStart::yes ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const auto bytes = source.bytes();
    // What is older than the last buckets is in the sums; nobody looks back.
    live::MeterLimits limits;
    limits.history_bytes = 0;
    limits.window = 1;
    live::Session session(limits);
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      PROFD_CHECK(context.stop.status());
      if (context.progress) context.progress(at, bytes.size());
      auto taken = session.consume(bytes.subspan(at, std::min(kPiece, bytes.size() - at)));
      if (!taken) {
        if (!context.partial || !session.hello()) return taken;
        context.report.add("malformed", Severity::loss, taken.error().message, taken.error().offset);
        break;
      }
    }
    if (!session.hello())
      return fail(ErrorCode::truncated, "the live stream ends before its `hello` does", bytes.size());
    session.finish();
    if (!session.said_bye())
      context.report.add(
          "no-bye", Severity::info,
          "The stream ends without a `bye`: the program or its agent ended at once, or is still running.",
          session.offset());
    if (!session.said_bye() && !session.begun().empty())
      context.report.add("truncated", Severity::loss, "The stream ends within a message.", session.offset());
    report(session, context);
    PROFD_TRY(ProfileBuilder builder,
              live::live_profile(live::sums_since_begin(session), *session.hello(), session.methods()));
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_plive_reader() {
  return std::make_unique<PliveReader>();
}

}  // namespace profd
