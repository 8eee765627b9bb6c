#include "server/dialect/psp/pages.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/platform/runtime_dir.h"

namespace profd {
namespace {

constexpr std::string_view kPageExtension = ".md";
constexpr std::size_t kMaxPageUri = 16384;

}  // namespace

std::string page_uri(const std::string& profile, PageKind kind, const std::string& function) {
  const std::string of = is_of_function(kind) ? "/" + percent_encoded(function) : std::string();
  return fmt::format("{}:/{}/{}{}{}", kPageScheme, percent_encoded(profile), to_text(kind), of,
                     kPageExtension);
}

PageRequest page_request(const SessionContext& session, OpenProfilePtr open, PageKind kind,
                         std::string function) {
  PageRequest request;
  request.kind = kind;
  request.workspace = session.workspace.snapshot();
  request.filters = session.workspace.filters(open->uri);
  request.open = std::move(open);
  request.function = std::move(function);
  request.folders = session.workspace.walked_roots();
  return request;
}

std::optional<PageRequest> page_request(SessionContext& session, const std::string& uri) {
  std::string_view rest = uri;
  if (uri.size() > kMaxPageUri || scheme_of(uri) != kPageScheme || !rest.ends_with(kPageExtension))
    return std::nullopt;
  rest.remove_prefix(kPageScheme.size() + 1);
  rest.remove_suffix(kPageExtension.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  const auto next = [&rest] {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  };
  const auto profile = fragment_decoded(next());
  const auto kind = page_kind_of(next());
  if (!profile || !kind) return std::nullopt;
  const auto function = fragment_decoded(rest);
  if (!function || function->empty() == is_of_function(*kind)) return std::nullopt;
  auto open = session.profile(*profile);
  if (!open) return std::nullopt;
  return page_request(session, std::move(*open), *kind, *function);
}

std::string shown_file(std::string_view name, ClientId client, std::string_view extension) {
  // A person may have a daemon an editor, and each has a first client.
  const auto folder = runtime_dir();
  return folder ? fmt::format("{}/{}-{}-{}.{}", *folder, name, ::getpid(), client, extension) : "";
}

void remove_shown_files(const SessionContext& session) {
  if (session.can.native) return;
  for (const PageKind kind :
       {PageKind::hotspots, PageKind::summary, PageKind::callers, PageKind::within, PageKind::changes})
    if (const std::string path = shown_file(to_text(kind), session.client); !path.empty())
      std::remove(path.c_str());
}

void show_document_or(const std::shared_ptr<protocol::Peer>& peer, const psp::ShowDocumentParams& shown,
                      std::string line) {
  peer->call<psp::ShowDocumentRequest>(
      shown, [to = std::weak_ptr<protocol::Peer>(peer), line = std::move(line)](
                 const tl::expected<psp::ShowDocumentResult, protocol::ResponseError>& answer) {
        const auto alive = to.lock();
        if (!alive || (answer && answer->success)) return;
        alive->notify<psp::ShowMessageNotification>({psp::MessageType::info, line});
      });
}

std::function<void(const ReportPage&)> page_shower(const SessionContext& session,
                                                   const PageRequest& request) {
  if (session.can.native) return {};
  const bool as_document = session.can.show_document && session.can.text_content;
  const std::string uri =
      as_document ? page_uri(request.open->handle, request.kind, request.function) : std::string();
  const std::string path = as_document ? std::string() : shown_file(to_text(request.kind), session.client);
  return [peer = std::weak_ptr<protocol::Peer>(session.peer), uri, path,
          shows = session.can.show_document](const ReportPage& page) {
    const auto alive = peer.lock();
    if (!alive) return;
    std::string line = sanitize_text(page.line);
    psp::ShowDocumentParams shown;
    shown.take_focus = true;
    // Private to the user; the next page of the kind replaces it.
    if (!uri.empty())
      shown.uri = uri;
    else if (!path.empty() && write_private_file(path, page.markdown)) {
      shown.uri = uri_of_path(path);
      line += " \u2014 all of it is in " + path;
    }
    if (shows && !shown.uri.empty()) return show_document_or(alive, shown, line);
    alive->notify<psp::ShowMessageNotification>({psp::MessageType::info, line});
  };
}

}  // namespace profd
