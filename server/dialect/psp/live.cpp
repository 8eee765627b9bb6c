#include "server/dialect/psp/live.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/engine/live_origin.h"
#include "server/engine/sample_source.h"
#include "server/engine/source_map.h"
#include "server/engine/uri.h"
#include "server/feature/live_text.h"
#include "server/feature/text.h"
#include "server/runtime/timers.h"

namespace profd {
namespace {

using protocol::Number;
using SessionPtr = std::shared_ptr<LiveSession>;

constexpr double kSide = kCityPlot;  // the unit of the city

double share_of(std::uint64_t ns, live::Nanoseconds whole) {
  return whole <= 0 ? 0 : static_cast<double>(ns) / static_cast<double>(whole);
}

psp::LiveState state_of(LiveState state) {
  switch (state) {
    case LiveState::runs:
      return psp::LiveState::runs;
    case LiveState::paused:
      return psp::LiveState::paused;
    case LiveState::replays:
      return psp::LiveState::replays;
    case LiveState::ended:
      break;
  }
  return psp::LiveState::ended;
}

psp::LiveLosses losses_of(const LiveTotals& totals) {
  psp::LiveLosses losses;
  const std::uint64_t lost = std::max(totals.said_lost, totals.counts.lost);
  losses.produced = totals.counts.events + lost;
  losses.sent = totals.counts.events;
  losses.lost = lost;
  losses.late = totals.counts.late;
  losses.unmatched = totals.counts.unmatched;
  losses.capped = totals.counts.capped + totals.capped_names;
  losses.steps = totals.counts.steps;
  losses.contexts = totals.more_contexts;
  losses.text = live_losses(totals);
  return losses;
}

// Nothing of what is no estimate.
std::optional<psp::LiveEstimate> estimate_of(const std::optional<live::Sampling>& sampling,
                                             std::uint64_t samples) {
  if (!sampling) return std::nullopt;
  psp::LiveEstimate estimate;
  estimate.source = sampling->source;
  estimate.samples = samples;
  if (sampling->period_ns != 0) estimate.period = sampling->period_ns;
  estimate.threads_known =
      (sampling->flags & static_cast<std::uint64_t>(live::SamplingFlag::threads_unknown)) == 0;
  estimate.text = live_estimate_text(*sampling, samples);
  return estimate;
}

psp::LiveSession session_of(const LiveInfo& info) {
  psp::LiveSession session;
  session.session = info.name;
  session.uri = info.uri;
  session.state = state_of(info.state);
  session.program = info.program;
  session.language = info.language;
  session.pid = static_cast<std::int64_t>(std::min<std::uint64_t>(info.pid, INT64_MAX));
  session.agent = info.agent;
  session.begun_ms = info.begun_ns / 1'000'000;
  session.time = info.time;
  session.window = info.window;
  session.methods = static_cast<std::uint32_t>(info.methods);
  session.threads = static_cast<std::uint32_t>(info.threads);
  session.layout = info.layout;
  const std::pair<live::Ability, const char*> all[] = {{live::Ability::can_pause, "pause"},
                                                       {live::Ability::can_filter, "filter"},
                                                       {live::Ability::can_demote, "demote"},
                                                       {live::Ability::can_detach, "detach"}};
  for (const auto& [ability, name] : all)
    if ((info.abilities & static_cast<std::uint64_t>(ability)) != 0) session.abilities.emplace_back(name);
  session.losses = losses_of(info.totals);
  session.estimate = estimate_of(info.sampling, info.totals.counts.samples);
  if (!info.recording.empty()) session.recording = uri_of_path(info.recording);
  if (!info.error.empty()) session.error = info.error;
  session.text = live_session_text(info);
  return session;
}

psp::LiveListening listening_of(const LiveListening& listening) {
  std::string text = fmt::format("Agents dial {}: start the program with ", listening.address);
  for (std::size_t i = 0; i < listening.environment.size(); ++i)
    text += (i == 0 ? "" : " and ") + listening.environment[i];
  return {listening.address, listening.environment, text + "."};
}

std::vector<psp::LiveListening> all_listening(const LiveSessions& sessions) {
  std::vector<psp::LiveListening> all;
  for (const LiveListening& listening : sessions.listening()) all.push_back(listening_of(listening));
  return all;
}

psp::LiveMethods methods_of(const LivePicture& picture) {
  psp::LiveMethods methods;
  for (const auto& [method, look] : picture.methods) {
    methods.id.push_back(method);
    methods.height.push_back(look.height);
    methods.threads.push_back(look.threads);
    methods.flags.push_back(look.flags);
  }
  return methods;
}

std::vector<psp::LiveRow> rows_of(const LivePicture& picture, const std::string& window) {
  const bool sampled = picture.sampling.has_value();
  std::vector<psp::LiveRow> rows;
  for (const LiveMethodRow& there : picture.rows) {
    psp::LiveRow row;
    row.method = there.method;
    row.name = there.name;
    row.label = there.label;
    if (!there.file.empty()) row.file = there.file;
    if (there.line != 0) row.line = there.line;
    row.elevation = share_of(there.sum.most_ns, picture.window);
    row.elevation_text = live_method_share(there.sum, picture.window, sampled);
    if (sampled) {
      row.samples = there.sum.most_samples;
      row.plus_minus = live_plus_minus(there.sum, picture.window);
    }
    row.threads = there.sum.threads;
    row.calls = there.sum.calls;
    row.calls_text = live_calls(there.sum.calls, sampled);
    row.flags = there.flags;
    row.text = live_row_text(there, picture.window, window, sampled);
    rows.push_back(std::move(row));
  }
  return rows;
}

psp::LiveThreadRow thread_of(const LiveThread& thread, live::Nanoseconds window, bool sampled) {
  psp::LiveThreadRow row;
  row.thread = thread.number;
  row.name = thread.name;
  row.state = !thread.alive ? psp::LiveThreadState::ended
              : thread.method == 0
                  ? (thread.unknown ? psp::LiveThreadState::unknown : psp::LiveThreadState::idle)
              : thread.waits ? psp::LiveThreadState::waits
                             : psp::LiveThreadState::runs;
  row.method = thread.method;
  if (thread.method != 0) row.label = thread.label;
  row.depth = static_cast<std::uint32_t>(thread.depth);
  row.busy = share_of(thread.sum.busy, window);
  row.waiting = share_of(thread.sum.waiting, window);
  row.unknown = share_of(thread.sum.unknown, window);
  if (sampled) row.samples = thread.sum.samples;
  if (thread.cpu_ns != 0) row.cpu = thread.cpu_ns;
  row.text = live_thread_text(thread);
  return row;
}

psp::LiveFrameResult frame_of(const LiveSession& session, const psp::LiveFrameParams& params) {
  const LivePicture picture = session.picture(params.since, params.rows, params.threads);
  psp::LiveFrameResult frame;
  frame.session = session.name();
  frame.frame = picture.frame;
  frame.key = picture.key;
  frame.state = state_of(picture.state);
  frame.time = picture.end;
  frame.time_text = live_time(picture.end);
  frame.window = picture.window;
  frame.window_text = "the last " + live_time(picture.window);
  frame.layout = picture.layout;
  frame.methods = methods_of(picture);
  frame.rows = rows_of(picture, frame.window_text);
  frame.rows_left = static_cast<std::uint32_t>(picture.rows_left);
  for (const LiveThread& thread : picture.threads)
    frame.thread_rows.push_back(thread_of(thread, picture.window, picture.sampling.has_value()));
  frame.threads_left = static_cast<std::uint32_t>(picture.threads_left);
  frame.losses = losses_of(picture.totals);
  frame.estimate = estimate_of(picture.sampling, picture.events);
  frame.probe_text = live_probe_text(picture);
  frame.demoted = static_cast<std::uint32_t>(picture.demoted);
  return frame;
}

std::string joined_name(const std::string& package, const std::string& name, const std::string& separator) {
  return package.empty() ? name : package + separator + name;
}

// The whole path of each district, and of its parents.
std::vector<std::string> paths_of(const City& city) {
  const CityDistricts& districts = city.districts;
  std::vector<std::string> paths(districts.name.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    paths[i] = districts.parent[i] == kNoCityRow
                   ? districts.name[i]
                   : joined_name(paths[districts.parent[i]], districts.name[i], city.separator);
  return paths;
}

psp::LiveCityResult city_of(LiveSessions& sessions, LiveSession& session, const SessionPtr& before,
                            std::uint32_t since) {
  psp::LiveCityResult result;
  result.session = session.name();
  if (before) result.plots.id_before.emplace();
  const auto look = [&](const LiveCity& whole) {
    const City& city = whole.city();
    const LiveCityPart part = whole.since(since);
    result.layout = whole.layout();
    result.key = since == 0 || since > whole.layout();
    result.width = city.width / kSide;
    result.depth = city.depth / kSide;
    const std::vector<std::string> paths = paths_of(city);
    auto place = [](auto& columns, const CityRect& rect) {
      columns.x.push_back(rect.x / kSide);
      columns.y.push_back(rect.y / kSide);
      columns.w.push_back(rect.width / kSide);
      columns.h.push_back(rect.depth / kSide);
    };
    auto row_or_none = [](std::uint32_t row) {
      return row == kNoCityRow ? -1 : static_cast<std::int32_t>(row);
    };
    for (const std::uint32_t row : part.districts) {
      result.districts.id.push_back(row);
      result.districts.parent.push_back(row_or_none(city.districts.parent[row]));
      result.districts.name.push_back(paths[row]);
      result.districts.label.push_back(city.districts.name[row]);
      place(result.districts, city.districts.rect[row]);
    }
    for (const std::uint32_t row : part.blocks) {
      const std::uint32_t district = city.blocks.district[row];
      result.blocks.id.push_back(row);
      result.blocks.district.push_back(row_or_none(district));
      result.blocks.name.push_back(
          joined_name(district < paths.size() ? paths[district] : "", city.blocks.name[row], city.separator));
      result.blocks.label.push_back(city.blocks.name[row]);
      place(result.blocks, city.blocks.rect[row]);
    }
    for (const std::uint32_t row : part.plots) {
      const LiveNamed& method = whole.methods()[row];
      result.plots.id.push_back(method.method);
      if (result.plots.id_before) result.plots.id_before->push_back(method.before);
      result.plots.block.push_back(city.plots.block[row]);
      result.plots.name.push_back(method.name);
      result.plots.signature.push_back(method.signature);
      result.plots.x.push_back(city.plots.x[row] / kSide);
      result.plots.y.push_back(city.plots.y[row] / kSide);
      result.plots.w.push_back(1);
    }
  };
  if (before)
    sessions.unions().look(session, *before, look);
  else
    session.look_at_city(look);
  return result;
}

Result<psp::LiveMethodResult> method_of(const LiveSession& session, std::uint32_t method,
                                        const WorkspaceSnapshot& workspace) {
  PROFD_TRY(const LiveMethodStory story, session.method(method));
  psp::LiveMethodResult result;
  result.session = session.name();
  result.method = method;
  result.name = story.row.name;
  result.package = story.package;
  result.class_name = story.class_name;
  result.method_name = story.method.empty() ? story.row.label : story.method;
  result.signature = story.signature;
  if (!story.row.file.empty()) {
    result.file = story.row.file;
    const SourceTarget target = find_source(workspace, story.row.file);
    if (target.paths.size() == 1 && target.doubt == Doubt::none) result.uri = uri_of_path(target.paths[0]);
  }
  if (story.row.line != 0) result.line = story.row.line;
  result.elevation = share_of(story.row.sum.most_ns, story.window);
  result.elevation_text = live_method_share(story.row.sum, story.window, story.sampled);
  if (story.sampled) {
    result.samples = story.row.sum.most_samples;
    result.plus_minus = live_plus_minus(story.row.sum, story.window);
  }
  result.threads = story.row.sum.threads;
  result.calls = story.row.sum.calls;
  result.flags = story.row.flags;
  result.total = live_time(static_cast<live::Nanoseconds>(story.total_ns)) + " since the start, " +
                 live_calls(story.total_calls, story.sampled);
  result.history = {story.begin, story.step, story.height};
  result.text = fmt::format(
      "{}\n{}\n{}", story.signature.empty() ? story.row.name : story.signature,
      live_row_text(story.row, story.window, "the last " + live_time(story.window), story.sampled),
      result.total);
  return result;
}

Result<psp::LiveWindowResult> window_of(const LiveSession& session, const psp::LiveWindowParams& params) {
  live::Nanoseconds from = params.from ? params.from->as_int64() : 0;
  live::Nanoseconds to = params.to ? params.to->as_int64() : session.time();
  if (params.from_mark) {
    PROFD_TRY(from, session.mark_time(*params.from_mark));
  }
  if (params.to_mark) {
    PROFD_TRY(to, session.mark_time(*params.to_mark));
  }
  if (from < 0 || to <= from)
    return fail(ErrorCode::invalid,
                fmt::format("a window from {} to {} has no time in it", live_time(from), live_time(to)));
  const LivePicture picture = session.window(from, to, params.rows, params.threads);
  if (picture.end <= picture.begin)
    return fail(
        ErrorCode::not_found,
        fmt::format("nothing is kept of {} to {}: the last ten minutes are, less where memory is short",
                    live_time(from), live_time(to)));
  psp::LiveWindowResult result;
  result.session = session.name();
  result.from = picture.begin;
  result.to = picture.end;
  result.window_text = fmt::format("{} to {}, {} long", live_time(picture.begin), live_time(picture.end),
                                   live_time(picture.window));
  result.uri = fmt::format("{}?from={}&to={}", session.uri(), picture.begin, picture.end);
  result.methods = methods_of(picture);
  result.rows = rows_of(picture, live_time(picture.window));
  result.rows_left = static_cast<std::uint32_t>(picture.rows_left);
  result.estimate = estimate_of(picture.sampling, picture.events);
  if (params.threads > 0) {
    auto& rows = result.thread_rows.emplace();
    for (const LiveThread& thread : picture.threads)
      rows.push_back(thread_of(thread, picture.window, picture.sampling.has_value()));
    result.threads_left = static_cast<std::uint32_t>(picture.threads_left);
  }
  const LiveStrip strip = session.strip(params.steps);
  result.strip.begin = strip.begin;
  result.strip.step = strip.step;
  result.strip.busy = strip.busy;
  result.strip.waiting = strip.waiting;
  result.strip.unknown = strip.unknown;
  for (const std::uint64_t n : strip.events) result.strip.events.emplace_back(n);
  for (const std::uint64_t n : strip.lost) result.strip.lost.emplace_back(n);
  for (const live::Mark& mark : session.marks())
    result.marks.push_back({mark.name, mark.at, live_time(mark.at)});
  return result;
}

// Does it; the text says what.
Result<std::string> control(LiveSessions& sessions, const SessionPtr& session,
                            const psp::LiveControlParams& params) {
  auto ask = [&](live::ControlOperation operation, std::string_view pattern,
                 std::string text) -> Result<std::string> {
    PROFD_CHECK(session->control(operation, pattern, params.methods));
    return text;
  };
  switch (params.operation.value()) {
    case psp::LiveOperation::pause:
      return ask(live::ControlOperation::pause, "", "asked to pause");
    case psp::LiveOperation::resume:
      return ask(live::ControlOperation::resume, "", "asked to go on");
    case psp::LiveOperation::filter:
      return ask(live::ControlOperation::filter, params.text, "asked for other packages");
    case psp::LiveOperation::demote:
      return ask(live::ControlOperation::demote, "",
                 "asked to take the probes off " + count_of(params.methods.size(), "method", "methods"));
    case psp::LiveOperation::promote:
      return ask(
          live::ControlOperation::promote, "",
          "asked to give " + count_of(params.methods.size(), "method", "methods") + " their probes back");
    case psp::LiveOperation::detach:
      return ask(live::ControlOperation::detach, "", "asked to run on without probes");
    case psp::LiveOperation::mark:
      if (params.text.empty()) return fail(ErrorCode::invalid, "a mark has a name: params.text");
      session->mark(params.text);
      return fmt::format("marked {} at {}", params.text, live_time(session->time()));
    case psp::LiveOperation::arrange:
      session->arrange_city();
      return std::string("the city is laid out anew");
    case psp::LiveOperation::record: {
      PROFD_TRY(const std::string path, path_of_uri(params.text));
      PROFD_CHECK(session->record(path));
      return "recording to " + path;
    }
    case psp::LiveOperation::close:
      sessions.close(session);
      return std::string("given up");
    default:
      return fail(ErrorCode::invalid, fmt::format("no operation `{}`", params.operation.text()));
  }
}

class LiveRequests final : public Module {
 public:
  explicit LiveRequests(SessionContext& session)
      : session_(session),
        timers_([&engine = session.engine](UniqueFunction<void()> task) { engine.post(std::move(task)); }) {}
  void bind(protocol::Binder& binder) override;
  void end() override { timers_.stop(); }

 private:
  // What a client waits for: a newer picture, or that it has waited long enough.
  struct Waiting {
    protocol::Reply<psp::LiveFrameRequest> reply;
    psp::LiveFrameParams params;
    SessionPtr session;
    bool answered = false;
  };

  [[nodiscard]] std::shared_ptr<LiveSessions> sessions() const {
    return live_sessions(session_.engine.origins());
  }
  void answer(const std::shared_ptr<Waiting>& waiting);
  void bind_frame(protocol::Binder& binder);
  void bind_attach(protocol::Binder& binder);

  SessionContext& session_;
  Timers timers_;
};

void LiveRequests::answer(const std::shared_ptr<Waiting>& waiting) {
  if (std::exchange(waiting->answered, true)) return;
  session_.run<psp::LiveFrameRequest>(
      true, std::move(waiting->reply), waiting->session->name(),
      [session = waiting->session, params = waiting->params](
          const StopToken&) -> Result<psp::LiveFrameResult> { return frame_of(*session, params); });
}

void LiveRequests::bind_frame(protocol::Binder& binder) {
  binder.request<psp::LiveFrameRequest>(
      [this](psp::LiveFrameParams params, protocol::Reply<psp::LiveFrameRequest> reply) {
        auto found = sessions()->find(params.session);
        if (!found) return reply.error(to_psp(found.error()));
        const std::uint32_t since = params.since;
        const std::chrono::milliseconds patience(params.wait);
        auto waiting = std::make_shared<Waiting>(Waiting{std::move(reply), std::move(params), *found});
        const bool waits = since != 0 && patience.count() > 0 && (*found)->frame() == since;
        if (!waits) return answer(waiting);
        auto come = [this, alive = session_.alive, waiting] {
          if (*alive) answer(waiting);
        };
        (*found)->when_newer(since, [&engine = session_.engine, come] { engine.post(come); });
        timers_.after(patience, come);
      });
}

void LiveRequests::bind_attach(protocol::Binder& binder) {
  binder.request<psp::LiveAttachRequest>([this](const psp::LiveAttachParams& params,
                                                protocol::Reply<psp::LiveAttachRequest> reply) {
    std::string path;
    if (params.replay) {
      auto named = path_of_uri(*params.replay);
      if (!named) return reply.error(to_psp(named.error()));
      path = std::move(*named);
    }
    // Who came over HTTP has no programs asked and no files read.
    if (params.source && session_.setup.may_have_root)
      return reply.error(invalid_params("params.source",
                                        "a page has no program sampled; an editor or "
                                        "`profd live` does, and the page then shows it"));
    if (params.source && params.replay)
      return reply.error(invalid_params("params.source", "a replay is of a recording, not of a program"));
    session_.run<psp::LiveAttachRequest>(
        false, std::move(reply), path,
        [sessions = sessions(), params, path, places = session_.workspace.symbol_places(path),
         &executor =
             session_.engine.scheduler().executor()](const StopToken& stop) -> Result<psp::LiveAttachResult> {
          PROFD_CHECK(sessions->set_window(params.window));
          if (params.listen) {
            PROFD_CHECK(sessions->listen_unix());
          }
          if (params.tcp) {
            PROFD_CHECK(sessions->listen_tcp());
          }
          psp::LiveAttachResult result;
          if (!path.empty()) {
            PROFD_TRY(const SessionPtr session, sessions->replay(path, params.speed, places, executor, stop));
            result.session = session_of(session->info());
          }
          if (params.source) {
            PROFD_TRY(auto feed, sample_feed_of(*params.source));
            PROFD_TRY(const SessionPtr session, sessions->sample(std::move(feed), places, stop));
            result.session = session_of(session->info());
          }
          result.listening = all_listening(*sessions);
          return result;
        });
  });
}

void LiveRequests::bind(protocol::Binder& binder) {
  bind_attach(binder);
  bind_frame(binder);

  binder.request<psp::LiveListRequest>(
      [this](const psp::LiveListParams&, protocol::Reply<psp::LiveListRequest> reply) {
        const auto all = sessions();
        psp::LiveListResult result;
        result.listening = all_listening(*all);
        for (const SessionPtr& session : all->list()) result.sessions.push_back(session_of(session->info()));
        reply(std::move(result));
      });

  binder.request<psp::LiveCityRequest>(
      [this](const psp::LiveCityParams& params, protocol::Reply<psp::LiveCityRequest> reply) {
        const auto all = sessions();
        auto found = all->find(params.session);
        if (!found) return reply.error(to_psp(found.error()));
        SessionPtr before;
        if (!params.before.empty()) {
          auto other = all->find(params.before);
          if (!other) return reply.error(to_psp(other.error()));
          before = std::move(*other);
        }
        session_.run<psp::LiveCityRequest>(true, std::move(reply), params.session,
                                           [all, session = *found, before, since = params.since](
                                               const StopToken&) -> Result<psp::LiveCityResult> {
                                             return city_of(*all, *session, before, since);
                                           });
      });

  binder.request<psp::LiveMethodRequest>(
      [this](const psp::LiveMethodParams& params, protocol::Reply<psp::LiveMethodRequest> reply) {
        auto found = sessions()->find(params.session);
        if (!found) return reply.error(to_psp(found.error()));
        session_.run<psp::LiveMethodRequest>(
            true, std::move(reply), params.session,
            [session = *found, method = params.method, workspace = session_.workspace.snapshot()](
                const StopToken&) { return method_of(*session, method, workspace); });
      });

  binder.request<psp::LiveControlRequest>(
      [this](const psp::LiveControlParams& params, protocol::Reply<psp::LiveControlRequest> reply) {
        const auto all = sessions();
        auto found = all->find(params.session);
        if (!found) return reply.error(to_psp(found.error()));
        // Who came over HTTP chooses no files.
        if (params.operation == psp::LiveOperation::record && session_.setup.may_have_root)
          return reply.error(invalid_params("params.operation", "a page records into no file"));
        auto done = control(*all, *found, params);
        if (!done) return reply.error(to_psp(done.error(), params.session));
        reply({session_of((*found)->info()), std::move(*done)});
      });

  binder.request<psp::LiveWindowRequest>(
      [this](const psp::LiveWindowParams& params, protocol::Reply<psp::LiveWindowRequest> reply) {
        auto found = sessions()->find(params.session);
        if (!found) return reply.error(to_psp(found.error()));
        session_.run<psp::LiveWindowRequest>(
            true, std::move(reply), params.session,
            [session = *found, params](const StopToken&) { return window_of(*session, params); });
      });
}

}  // namespace

std::unique_ptr<Module> make_live_module(SessionContext& session) {
  return std::make_unique<LiveRequests>(session);
}

}  // namespace profd
