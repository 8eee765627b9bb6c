#include "server/transport/web_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/uri.h"
#include "server/runtime/log.h"
#include "server/transport/loopback.h"

namespace profd {
WebServer::WebServer(asio::io_context& io, Admission& admission, std::span<const WebFile> files,
                     std::shared_ptr<MessageBound> messages, MakeSession make_session,
                     std::function<void()> changed)
    : io_(io),
      admission_(admission),
      make_session_(std::move(make_session)),
      changed_(std::move(changed)),
      host_(std::make_shared<WebHost>()) {
  host_->files = files;
  host_->messages = std::move(messages);
  host_->make_session = [this](std::shared_ptr<Channel> channel) {
    return this->make_session(std::move(channel));
  };
  host_->closed = [this](WebConnection* over) {
    std::erase_if(connections_, [&](const auto& c) { return c.get() == over; });
    if (changed_) changed_();
  };
}

WebServer::~WebServer() {
  host_->make_session = nullptr;
  host_->closed = nullptr;
  close();
}

void WebServer::close() {
  listener_.reset();
  for (const auto& connection : connections_) connection->close();
  connections_.clear();
}

Result<std::uint16_t> WebServer::listen(std::uint16_t port) {
  PROFD_TRY(asio::ip::tcp::acceptor acceptor, listen_on_loopback(io_, port));
  host_->port = acceptor.local_endpoint().port();
  log_info(fmt::format("the page is served on 127.0.0.1:{}", host_->port));
  listener_.emplace(io_, std::move(acceptor), fmt::format("127.0.0.1:{}", host_->port),
                    [this](asio::ip::tcp::socket socket) { add(std::move(socket)); });
  return host_->port;
}

void WebServer::add(asio::ip::tcp::socket socket) {
  const auto connection = std::make_shared<std::weak_ptr<WebConnection>>();
  auto place = admission_.admit_stranger(Stranger::http, [connection] {
    if (const auto idle = connection->lock()) idle->close();
  });
  if (!place) {
    log_warning(fmt::format("a page was turned away: {} are connected", admission_.n_connections()));
    return;
  }
  const std::shared_ptr<WebConnection> added = make_web_connection(std::move(socket), host_);
  *connection = added;
  connections_.push_back(added);
  added->start(std::move(place));
}

std::unique_ptr<Session> WebServer::make_session(std::shared_ptr<Channel> channel) {
  if (n_sessions() >= kMaxSessions) return nullptr;
  SessionSetup setup;
  setup.on_exit = [raw = channel.get()] { raw->close(); };
  setup.may_have_root = [this](const std::string& root) { return roots_.count(root) != 0; };
  auto session = make_session_(std::move(channel), std::move(setup));
  if (changed_) changed_();
  return session;
}

std::size_t WebServer::n_sessions() const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [](const auto& c) { return c->has_session(); }));
}

WebPage WebServer::page(const WebPageRequest& request) {
  std::string rest;
  for (const std::string& uri : request.open) rest += "&open=" + percent_encoded(uri);
  if (!request.view.empty()) rest += "&view=" + percent_encoded(request.view);
  for (const std::string& root : request.roots) {
    if (roots_.size() >= kMaxRoots && roots_.count(root) == 0) continue;
    roots_.insert(root);
    rest += "&root=" + percent_encoded(uri_of_path(root));
  }
  const std::string page = fmt::format("http://127.0.0.1:{}/#", host_->port);
  WebPage out;
  out.address = page + "t=" + host_->secrets.token() + rest;
  out.once = page + "c=" + host_->secrets.new_code(WebSecrets::Clock::now()) + rest;
  out.has_page = !host_->files.empty();
  return out;
}

}  // namespace profd
