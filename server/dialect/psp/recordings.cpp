// What `profd record` leaves in the projects of a client: told when a recording ends, and listed.
#include "server/engine/recordings.h"

#include <algorithm>
#include <utility>

#include "server/dialect/psp/module.h"
#include "server/engine/recording_watch.h"
#include "server/engine/typed_line.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/recording_text.h"

namespace profd {
namespace {

constexpr std::size_t kMostListed = 100;
constexpr std::size_t kListedCommandColumns = 1000;

std::string profile_of(const KeptRecording& recording) {
  return uri_of_path(recording.path + "/" + recording.meta.profile);
}

// On a worker: whether it is its user's, a file says.
psp::Recording recording_to_psp(const KeptRecording& recording, const KeptRecording* before) {
  const RecordingMeta& meta = recording.meta;
  psp::Recording out;
  out.name = recording.name;
  out.folder = uri_of_path(recording.path);
  if (!meta.profile.empty()) out.uri = profile_of(recording);
  out.command = cut_to_width(sanitize_text(typed_line(meta.argv)), kListedCommandColumns);
  out.tool = sanitize_text(meta.tool);
  out.exit_code = static_cast<std::uint32_t>(meta.exit_code);
  out.started = sanitize_text(meta.started);
  out.own = is_confirmed(meta);
  out.failed = meta.profile.empty() || !meta.failure.empty();
  out.text = sanitize_text(recording_text(meta, before == nullptr ? nullptr : &before->meta));
  if (before != nullptr) out.before = profile_of(*before);
  return out;
}

class RecordingsModule final : public Module {
 public:
  explicit RecordingsModule(SessionContext& session) : session_(session), watch_(session.engine) {}
  void bind(protocol::Binder& binder) override;
  void start() override;
  void end() override { watch_.stop(); }

 private:
  void tell(const RecordingsSeen::Ended& ended);

  SessionContext& session_;
  RecordingWatch watch_;
};

void RecordingsModule::bind(protocol::Binder& binder) {
  binder.request<psp::RecordingListRequest>([this](const psp::RecordingListParams&,
                                                   protocol::Reply<psp::RecordingListRequest> reply) {
    session_.run<psp::RecordingListRequest>(
        true, std::move(reply), "",
        [roots = session_.workspace.roots()](const StopToken& stop) -> Result<psp::RecordingListResult> {
          psp::RecordingListResult result;
          std::vector<std::pair<std::string, psp::Recording>> named;
          for (const std::string& place : recording_places(roots)) {
            const std::size_t all = recording_names(place, kMostRecordings).size();
            result.left += static_cast<std::uint32_t>(all - std::min(all, kMostListed));
            const std::vector<KeptRecording> recordings = list_recordings(place, kMostListed);
            for (const KeptRecording& one : recordings) {
              PROFD_CHECK(stop.status());
              named.emplace_back(one.name, recording_to_psp(one, run_before(recordings, one.name, one.meta)));
            }
          }
          std::stable_sort(named.begin(), named.end(),
                           [](const auto& a, const auto& b) { return a.first > b.first; });
          for (auto& [name, recording] : named) result.recordings.push_back(std::move(recording));
          return result;
        });
  });
}

void RecordingsModule::start() {
  if (!session_.can.recorded) return;
  watch_.start(session_.client, session_.workspace.roots(),
               [this](const RecordingsSeen::Ended& ended) { tell(ended); });
}

void RecordingsModule::tell(const RecordingsSeen::Ended& ended) {
  session_.engine.scheduler().submit(Lane::interactive, session_.client, "recordings",
                                     [this, &engine = session_.engine, alive = session_.alive, ended] {
                                       const auto recording = read_recording(ended.place, ended.name);
                                       if (!recording) return;
                                       const auto all = list_recordings(ended.place, kMostListed);
                                       psp::RecordedParams params;
                                       params.recording = recording_to_psp(
                                           *recording, run_before(all, ended.name, recording->meta));
                                       engine.post([this, alive, params = std::move(params)] {
                                         if (*alive && !session_.closed)
                                           session_.peer->notify<psp::RecordedNotification>(params);
                                       });
                                     });
}

}  // namespace

std::unique_ptr<Module> make_recordings_module(SessionContext& session) {
  return std::make_unique<RecordingsModule>(session);
}

}  // namespace profd
