// profd-script: the process that runs one script over profiles. Started by profd, with one end of a pair of
// sockets at kWorkerSocket; it ends with the script, or when it is killed.
#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include <unistd.h>

#include "script/host.h"
#include "workers/exit_codes.h"
#include "workers/frames.h"
#include "workers/sandbox.h"

namespace {

using namespace profd;

[[noreturn]] void out_of_memory() {
  ::_exit(kWorkerOutOfMemory);
}

Result<void> send(const worker::ScriptReport& report) {
  return send_frame(kWorkerSocket, worker::encode(report));
}

// A message is bounded: annotations and tables are, metrics come in pieces.
Result<void> send_results(script::Host& host) {
  if (host.done.error.empty()) {
    if (!host.edits.empty()) PROFD_CHECK(send(script::edits_of(host)));
    for (worker::ScriptMetric& metric : host.metrics)
      for (std::size_t at = 0; at < metric.values.size(); at += worker::kMetricPiece) {
        const auto begin = metric.values.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t n = std::min(worker::kMetricPiece, metric.values.size() - at);
        PROFD_CHECK(send(
            worker::ScriptMetric{metric.name, metric.unit, {begin, begin + static_cast<std::ptrdiff_t>(n)}}));
      }
  }
  for (worker::ScriptTable& table : host.tables) PROFD_CHECK(send(std::move(table)));
  if (!host.notes.empty()) PROFD_CHECK(send(worker::ScriptNotes{std::move(host.notes)}));
  return send(std::move(host.done));
}

Result<void> serve(bool confined) {
  PROFD_CHECK(send(worker::ScriptHello{PROFD_VERSION, confined}));
  script::Host host;
  std::size_t n_nodes = 0;
  while (true) {
    PROFD_TRY(const Frame frame, receive_frame(kWorkerSocket));
    PROFD_TRY(worker::ScriptOrder order, worker::decode_script_order(frame.bytes));
    if (auto* const profile = std::get_if<worker::ScriptProfile>(&order)) {
      if (frame.files.size() != 1) return fail(ErrorCode::malformed, "a profile without its columns");
      PROFD_TRY(worker::SharedColumns columns, worker::SharedColumns::map(frame.files.front()));
      PROFD_TRY(script::ProfileView view, script::ProfileView::make(std::move(*profile), std::move(columns)));
      n_nodes += view.n_contexts();
      host.profiles.push_back(std::move(view));
      continue;
    }
    if (host.profiles.empty()) return fail(ErrorCode::malformed, "a script without a profile");
    host.most_bytes = worker::kScriptHeap + n_nodes * worker::kScriptHeapOfNode;
    script::run(host, std::get<worker::ScriptRun>(order));
    return send_results(host);
  }
}

}  // namespace

int main() {
  if (::isatty(kWorkerSocket) != 0 || ::lseek(kWorkerSocket, 0, SEEK_CUR) >= 0) {
    std::fputs("profd-script is started by profd, which gives it its work\n", stderr);
    return 2;
  }
  std::set_new_handler(out_of_memory);
  const auto confined = worker::confine();
  if (!confined) ::_exit(kWorkerNotConfined);
  // The other end is gone: so is the work.
  static_cast<void>(serve(*confined));
  ::_exit(0);
}
