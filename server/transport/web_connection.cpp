#include "server/transport/web_connection.h"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "protocol/json_parse.h"
#include "server/platform/last_words.h"
#include "server/platform/socket_owner.h"
#include "server/runtime/log.h"
#include "server/transport/outgoing_queue.h"

namespace profd {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;

using Request = http::request<http::string_body>;

constexpr auto kRequestTime = std::chrono::seconds(10);  // for a whole request: slow headers end there
constexpr auto kAnswerTime = std::chrono::seconds(30);
constexpr auto kIdleTime = std::chrono::seconds(40);  // of a WebSocket; a ping goes out at half of it
constexpr std::size_t kKeptBuffer = std::size_t{1} << 20;
constexpr std::size_t kPiece = std::size_t{64} << 10;  // read at once of a message

constexpr std::string_view kNoPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>profd</title><p>This profd was built "
    "without "
    "its views for browsers: Node was not there. The protocol is served all the same.</p></html>\n";

std::string no_header(std::size_t) {
  return {};
}

std::string_view text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

// Nothing where a header that decides came twice.
std::optional<WebHead> head_of_request(const Request& request) {
  for (const http::field field : {http::field::host, http::field::origin, http::field::authorization,
                                  http::field::sec_websocket_protocol})
    if (request.count(field) > 1) return std::nullopt;
  for (const char* field : {"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"})
    if (request.count(field) > 1) return std::nullopt;
  WebHead head;
  head.method = text_of(request.method_string());
  head.target = text_of(request.target());
  head.host = text_of(request[http::field::host]);
  head.origin = text_of(request[http::field::origin]);
  head.authorization = text_of(request[http::field::authorization]);
  head.protocols = text_of(request[http::field::sec_websocket_protocol]);
  head.fetch_site = text_of(request["Sec-Fetch-Site"]);
  head.fetch_mode = text_of(request["Sec-Fetch-Mode"]);
  head.fetch_dest = text_of(request["Sec-Fetch-Dest"]);
  head.upgrade = websocket::is_upgrade(request);
  return head;
}

class Connection final : public WebConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, std::shared_ptr<WebHost> host)
      : executor_(socket.get_executor()), host_(std::move(host)), http_(std::in_place, std::move(socket)) {
    beast::error_code ignored;
    http_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto other = http_->socket().remote_endpoint(ignored);
    their_port_ = ignored ? std::uint16_t{0} : other.port();
  }

  void start(std::unique_ptr<Admission::Place> place) override {
    place_ = std::move(place);
    read_request();
  }
  void close() override;
  [[nodiscard]] bool has_session() const override { return session_ != nullptr; }

 private:
  void read_request();
  void have_request(const beast::error_code& error);
  void answer(const Request& request, const WebHead& head);
  void send_file(const WebHead& head);
  void send_token(const WebHead& head);
  void send_code(const WebHead& head);
  void send_text(http::status status, std::string text, std::string_view type = "text/plain; charset=utf-8");
  void open_session(const WebHead& head);
  void accepted();
  void read_message();
  void read_piece();
  void have_message(const beast::error_code& error);
  void write();

  asio::any_io_executor executor_;
  std::shared_ptr<WebHost> host_;
  std::unique_ptr<Admission::Place> place_;
  std::uint16_t their_port_ = 0;
  bool over_ = false;

  std::optional<beast::tcp_stream> http_;  // until there is a WebSocket
  beast::flat_buffer buffer_{kMaxHeaderBytes + kMaxBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::string host_header_;
  bool keep_alive_ = false, head_only_ = false;
  int n_requests_ = 0;

  std::optional<websocket::stream<beast::tcp_stream>> socket_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<OutgoingQueue> outgoing_;
  beast::flat_buffer incoming_;
  std::unique_ptr<MessageBound::Share> held_;  // of messages that are read or looked at
  Framed writing_;
  bool is_writing_ = false, is_reading_ = false;
};

void Connection::read_request() {
  if (over_) return;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(kMaxHeaderBytes));
  parser_->body_limit(kMaxBodyBytes);
  http_->expires_after(kRequestTime);
  http::async_read(*http_, buffer_, *parser_,
                   [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                     self->have_request(error);
                   });
}

void Connection::have_request(const beast::error_code& error) {
  if (over_) return;
  head_only_ = false;
  keep_alive_ = false;
  host_header_.clear();
  if (error == http::error::header_limit)
    return send_text(http::status::request_header_fields_too_large, "the headers are too large\n");
  if (error == http::error::body_limit)
    return send_text(http::status::payload_too_large, "the body is too large\n");
  if (error && error != http::error::end_of_stream && error != http::error::partial_message &&
      error.category() == http::make_error_code(http::error::bad_method).category())
    return send_text(http::status::bad_request, "this is no HTTP request\n");
  if (error) return close();
  const Request& request = parser_->get();
  keep_alive_ = request.keep_alive() && ++n_requests_ < kMaxRequests;
  head_only_ = request.method() == http::verb::head;
  const auto head = head_of_request(request);
  if (!head) {
    keep_alive_ = false;
    return send_text(http::status::bad_request, "a header came twice\n");
  }
  answer(request, *head);
}

void Connection::answer(const Request&, const WebHead& head) {
  const WebAsk ask = judge(head);
  if (ask != WebAsk::misplaced) host_header_ = std::string(head.host);
  switch (ask) {
    case WebAsk::misplaced:
      keep_alive_ = false;
      return send_text(http::status::forbidden, "profd answers pages of its own address alone\n");
    case WebAsk::unknown:
      return send_text(http::status::not_found, "there is nothing here\n");
    case WebAsk::method:
      return send_text(http::status::method_not_allowed, "not with this method\n");
    case WebAsk::file:
      return send_file(head);
    case WebAsk::token:
      return send_token(head);
    case WebAsk::code:
      return send_code(head);
    case WebAsk::session:
      return open_session(head);
  }
}

void Connection::send_file(const WebHead& head) {
  std::string_view path = path_of_target(head.target);
  if (path == "/") path = "/index.html";
  for (const WebFile& file : host_->files)
    if (file.path == path) return send_text(http::status::ok, std::string(file.bytes), file.type);
  if (host_->files.empty() && path == "/index.html")
    return send_text(http::status::ok, std::string(kNoPage), "text/html; charset=utf-8");
  send_text(http::status::not_found, "there is nothing here\n");
}

void Connection::send_token(const WebHead& head) {
  const auto code = credentials(head.authorization, "Code");
  // Another user of this machine may have read the code in a list of processes. Whose connection it is stands
  // in a table of all connections of the system, which is read for who has a code alone.
  const auto may = [this] {
    const auto owner = owner_of_connection(their_port_, host_->port);
    const bool theirs = owner && *owner != ::geteuid() && *owner != 0;
    if (theirs) log_warning(fmt::format("user {} asked for the token of the page and was refused", *owner));
    return !theirs;
  };
  if (!code || !host_->secrets.redeem(*code, WebSecrets::Clock::now(), may))
    return send_text(http::status::unauthorized,
                     "the code is used up or older than a minute; run `profd view` again\n");
  send_text(http::status::ok, fmt::format("{{\"token\":\"{}\"}}", host_->secrets.token()),
            "application/json");
}

// Who has the token may let its user in elsewhere: with what is good once, not with the token itself.
void Connection::send_code(const WebHead& head) {
  const auto token = credentials(head.authorization, "Token");
  if (!token || !host_->secrets.is_token(*token))
    return send_text(http::status::unauthorized, "the token is missing or wrong\n");
  send_text(http::status::ok,
            fmt::format("{{\"code\":\"{}\"}}", host_->secrets.new_code(WebSecrets::Clock::now())),
            "application/json");
}

void Connection::send_text(http::status status, std::string text, std::string_view type) {
  response_ = {};
  response_.version(11);
  response_.result(status);
  response_.keep_alive(keep_alive_);
  response_.set(http::field::content_type, beast::string_view(type.data(), type.size()));
  // The WebSocket is named for browsers to which 'self' is HTTP alone.
  const std::string socket = host_header_.empty() ? "" : " ws://" + host_header_;
  response_.set(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
      "'self'" +
          socket + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("X-Frame-Options", "DENY");
  response_.set("Referrer-Policy", "no-referrer");
  response_.set("Cache-Control", "no-store");
  response_.set("Cross-Origin-Opener-Policy", "same-origin");
  response_.set("Cross-Origin-Resource-Policy", "same-origin");
  response_.set("Cross-Origin-Embedder-Policy", "require-corp");
  if (status == http::status::method_not_allowed) response_.set(http::field::allow, "GET, HEAD, POST");
  response_.content_length(text.size());
  if (!head_only_) response_.body() = std::move(text);
  http_->expires_after(kAnswerTime);
  http::async_write(*http_, response_,
                    [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                      if (error || !self->keep_alive_) return self->close();
                      self->read_request();
                    });
}

void Connection::open_session(const WebHead& head) {
  const auto token = token_of_protocols(head.protocols);
  if (!token || !host_->secrets.is_token(*token)) {
    log_warning("a WebSocket without the token was turned away");
    return send_text(http::status::unauthorized, "the token is missing or wrong\n");
  }
  if (buffer_.size() != 0) return send_text(http::status::bad_request, "a frame came before the answer\n");
  http_->expires_never();
  socket_.emplace(std::move(*http_));
  http_.reset();
  websocket::stream_base::timeout times{};
  times.handshake_timeout = kRequestTime;
  times.idle_timeout = kIdleTime;
  times.keep_alive_pings = true;
  socket_->set_option(times);
  socket_->set_option(websocket::stream_base::decorator([](websocket::response_type& response) {
    response.set(http::field::sec_websocket_protocol, beast::string_view(kProtocol.data(), kProtocol.size()));
  }));
  socket_->read_message_max(protocol::kMaxMessageBytes);
  socket_->auto_fragment(false);
  socket_->text(true);
  socket_->async_accept(parser_->get(), [self = shared_from_this()](const beast::error_code& error) {
    if (self->over_) return;
    if (error) return self->close();
    self->accepted();
  });
}

void Connection::accepted() {
  auto& io = static_cast<asio::io_context&>(executor_.context());
  outgoing_ = std::make_shared<OutgoingQueue>(
      io, host_->messages, &no_header,
      [self = weak_from_this()] {
        if (const auto alive = self.lock()) alive->write();
      },
      [self = weak_from_this()] {
        const auto alive = self.lock();
        if (!alive) return;
        log_warning("a page that does not read its answers was disconnected");
        alive->close();
      });
  held_ = std::make_unique<MessageBound::Share>(
      host_->messages, Held::incoming, [executor = executor_, self = weak_from_this()] {
        asio::post(executor, [self] {
          const auto alive = self.lock();
          if (!alive) return;
          log_warning("a page that sends more than there is memory for was disconnected");
          alive->close();
        });
      });
  session_ = host_->make_session(outgoing_);
  if (!session_) {
    log_warning("a page was turned away: too many are connected");
    return close();
  }
  place_->known();
  session_->set_on_ready([self = weak_from_this()] {
    if (const auto alive = self.lock()) alive->read_message();
  });
  read_message();
}

// While a large message is looked at, or answers are not read, the next one waits in the socket.
void Connection::read_message() {
  if (over_ || is_reading_ || !session_->ready()) return;
  if (outgoing_->queued_bytes() > Channel::kEnoughQueued) return;
  held_->set(0);
  is_reading_ = true;
  read_piece();
}

// A message in pieces, so that what is there of it is counted.
void Connection::read_piece() {
  const LastWords words;  // a connection that is not served any more would wait for ever
  socket_->async_read_some(incoming_, kPiece,
                           [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                             if (self->over_) return;
                             self->held_->set(self->incoming_.size());
                             if (!error && !self->socket_->is_message_done()) return self->read_piece();
                             self->is_reading_ = false;
                             self->have_message(error);
                           });
}

void Connection::have_message(const beast::error_code& error) {
  if (over_) return;
  if (error) {
    if (error.category() == websocket::make_error_code(websocket::error::closed).category() &&
        error != websocket::error::closed)
      log_info(fmt::format("a page's connection ended: {}", error.message()));
    return close();
  }
  if (!socket_->got_text()) {
    log_warning("a page sent bytes where text is spoken, and was disconnected");
    return close();
  }
  std::string body = beast::buffers_to_string(incoming_.data());
  incoming_.consume(incoming_.size());
  if (incoming_.capacity() > kKeptBuffer) incoming_.shrink_to_fit();
  session_->receive(std::move(body));
  read_message();
}

void Connection::write() {
  const LastWords words;  // a connection that is not served any more would wait for ever
  if (is_writing_ || over_ || !socket_) return;
  bool last = false;
  auto next = outgoing_->take(last);
  if (!next) {
    if (!last) return;
    is_writing_ = true;
    socket_->async_close(websocket::close_code::normal,
                         [self = shared_from_this()](const beast::error_code&) { self->close(); });
    return;
  }
  writing_ = std::move(*next);
  is_writing_ = true;
  socket_->async_write(asio::buffer(writing_.body),
                       [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                         self->is_writing_ = false;
                         if (error) return self->close();
                         self->outgoing_->written(std::exchange(self->writing_, {}));
                         self->write();
                         if (self->outgoing_->queued_bytes() <= Channel::kEnoughQueued / 2)
                           self->read_message();
                       });
}

void Connection::close() {
  if (std::exchange(over_, true)) return;
  if (http_) {
    beast::error_code ignored;
    http_->socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    http_->close();
  }
  if (socket_) beast::get_lowest_layer(*socket_).close();
  if (session_) session_->close();
  place_.reset();
  // Not from inside a call of the session itself.
  asio::post(executor_, [self = shared_from_this()] {
    if (self->host_->closed) self->host_->closed(self.get());
  });
}

}  // namespace

std::shared_ptr<WebConnection> make_web_connection(asio::ip::tcp::socket socket,
                                                   std::shared_ptr<WebHost> host) {
  return std::make_shared<Connection>(std::move(socket), std::move(host));
}

}  // namespace profd
