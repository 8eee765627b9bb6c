#include "server/transport/web_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/uri.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

constexpr auto kAcceptAgain = std::chrono::milliseconds(100);

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != kPlain.npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

WebServer::WebServer(asio::io_context& io, std::span<const WebFile> files, MakeSession make_session,
                     std::function<void()> changed)
    : io_(io),
      acceptor_(io),
      again_(io),
      make_session_(std::move(make_session)),
      changed_(std::move(changed)),
      host_(std::make_shared<WebHost>()) {
  host_->files = files;
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
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  again_.cancel();
  for (const auto& connection : connections_) connection->close();
  connections_.clear();
}

Result<std::uint16_t> WebServer::listen(std::uint16_t port) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint wanted(asio::ip::address_v4::loopback(), port);
  acceptor_.open(wanted.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(wanted, error);
  if (!error) acceptor_.listen(64, error);
  if (error) return fail(ErrorCode::io, fmt::format("127.0.0.1:{}: {}", port, error.message()));
  host_->port = acceptor_.local_endpoint().port();
  log_info(fmt::format("the page is served on 127.0.0.1:{}", host_->port));
  accept();
  return host_->port;
}

void WebServer::accept() {
  acceptor_.async_accept([this](const boost::system::error_code& error, asio::ip::tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      add(std::move(socket));
      return accept();
    }
    // Out of descriptors, most likely: at once it would only fail again.
    again_.expires_after(kAcceptAgain);
    again_.async_wait([this](const boost::system::error_code& stopped) {
      if (!stopped) accept();
    });
  });
}

void WebServer::add(asio::ip::tcp::socket socket) {
  if (connections_.size() >= kMaxConnections) {
    log_warning(fmt::format("a connection to the page was turned away: {} are open", connections_.size()));
    return;
  }
  const auto connection = make_web_connection(std::move(socket), host_);
  connections_.insert(connection);
  connection->start();
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
