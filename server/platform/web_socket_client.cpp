#include "server/platform/web_socket_client.h"

#include <algorithm>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <fmt/format.h>

namespace profd {
namespace {

namespace socket_beast = boost::beast;
namespace socket_asio = boost::asio;
using SocketError = socket_beast::error_code;
using SocketClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSocketConnectTime{10'000};
constexpr milliseconds kSocketGlance{20};  // how soon a stop is seen

}  // namespace

struct WebSocketClient::State {
  Place place;
  socket_asio::io_context io{1};
  socket_beast::websocket::stream<socket_asio::ip::tcp::socket> stream{io};
  socket_beast::flat_buffer buffer;
  bool gone = false;
  bool reads = false, has_read = false;  // a message is waited for; it has come
  SocketError read_error;

  void begin_reading() {
    if (std::exchange(reads, true)) return;
    has_read = false;
    buffer.clear();
    stream.async_read(buffer, [this](const SocketError& why, std::size_t) {
      read_error = why;
      has_read = true;
    });
  }

  Result<std::string> take_read() {
    reads = false;
    if (read_error) return tl::unexpected<Error>(told(read_error));
    const auto data = buffer.data();
    return std::string(static_cast<const char*>(data.data()), data.size());
  }

  // Runs what was begun to its end, in glances; where that does not come in time the connection is given up,
  // so that nothing refers to what is gone.
  Result<void> wait(const bool& done, milliseconds patience, const StopToken& stop, std::string_view what) {
    const SocketClock::time_point until = SocketClock::now() + patience;
    Result<void> status;
    while (!done) {
      if (status) {
        status = stop.status();
        if (status && SocketClock::now() >= until)
          status = fail(ErrorCode::io, fmt::format("{}: {} in time", place.shown, what));
        if (!status) {
          gone = true;
          SocketError ignored;
          stream.next_layer().close(ignored);
        }
      }
      io.restart();
      io.run_one_for(kSocketGlance);
    }
    return status;
  }

  Error told(const SocketError& error) {
    gone = true;
    if (error == socket_beast::websocket::error::message_too_big ||
        error == socket_beast::websocket::error::buffer_overflow)
      return {ErrorCode::limit,
              fmt::format("{}: it sent a message that is too large", place.shown),
              std::nullopt,
              {}};
    return {ErrorCode::io,
            fmt::format("{}: the connection has ended ({})", place.shown, error.message()),
            std::nullopt,
            {}};
  }

  Result<void> open(std::size_t most_bytes, const StopToken& stop) {
    SocketError error;
    bool done = false;
    socket_asio::ip::tcp::resolver resolver(io);
    socket_asio::ip::tcp::resolver::results_type found;
    resolver.async_resolve(place.host, place.port,
                           [&](const SocketError& why, socket_asio::ip::tcp::resolver::results_type results) {
                             error = why;
                             found = std::move(results);
                             done = true;
                           });
    PROFD_CHECK(wait(done, kSocketConnectTime, stop, "its host was not found"));
    if (error) return fail(ErrorCode::io, fmt::format("{}: there is no host {}", place.shown, place.host));
    done = false;
    socket_asio::async_connect(stream.next_layer(), found,
                               [&](const SocketError& why, const socket_asio::ip::tcp::endpoint&) {
                                 error = why;
                                 done = true;
                               });
    PROFD_CHECK(wait(done, kSocketConnectTime, stop, "nobody took the connection"));
    if (error)
      return fail(ErrorCode::io,
                  fmt::format("{}: nobody answers there ({}); does the program run, and does it "
                              "listen on this port?",
                              place.shown, error.message()));
    SocketError ignored;
    stream.next_layer().set_option(socket_asio::ip::tcp::no_delay(true), ignored);
    stream.read_message_max(most_bytes);
    done = false;
    const bool is_v6 = place.host.find(':') != std::string::npos;
    const std::string host = (is_v6 ? "[" + place.host + "]" : place.host) + ":" + place.port;
    stream.async_handshake(host, place.target, [&](const SocketError& why) {
      error = why;
      done = true;
    });
    PROFD_CHECK(wait(done, kSocketConnectTime, stop, "it did not answer"));
    if (error)
      return fail(ErrorCode::io, fmt::format("{}: what answers there does not take the connection ({})",
                                             place.shown, error.message()));
    stream.text(true);
    return {};
  }
};

WebSocketClient::WebSocketClient(std::unique_ptr<State> state) : state_(std::move(state)) {}

WebSocketClient::~WebSocketClient() {
  SocketError ignored;
  state_->stream.next_layer().close(ignored);
}

Result<std::unique_ptr<WebSocketClient>> WebSocketClient::connect(Place place, std::size_t most_bytes,
                                                                  const StopToken& stop) {
  auto state = std::make_unique<State>();
  state->place = std::move(place);
  PROFD_CHECK(state->open(most_bytes, stop));
  return std::unique_ptr<WebSocketClient>(new WebSocketClient(std::move(state)));
}

Result<void> WebSocketClient::send(std::string_view text, const StopToken& stop) {
  SocketError error;
  bool done = false;
  state_->stream.async_write(socket_asio::buffer(text.data(), text.size()),
                             [&](const SocketError& why, std::size_t) {
                               error = why;
                               done = true;
                             });
  PROFD_CHECK(state_->wait(done, kSocketConnectTime, stop, "a message was not taken"));
  if (error) return tl::unexpected<Error>(state_->told(error));
  return {};
}

Result<std::string> WebSocketClient::receive(milliseconds patience, const StopToken& stop) {
  state_->begin_reading();
  PROFD_CHECK(state_->wait(state_->has_read, patience, stop, "there was no answer"));
  return state_->take_read();
}

Result<std::optional<std::string>> WebSocketClient::receive_within(milliseconds time, const StopToken& stop) {
  const SocketClock::time_point until = SocketClock::now() + time;
  state_->begin_reading();
  while (!state_->has_read) {
    PROFD_CHECK(stop.status());
    const SocketClock::time_point now = SocketClock::now();
    if (now >= until) return std::optional<std::string>();
    state_->io.restart();
    state_->io.run_one_for(std::min<SocketClock::duration>(kSocketGlance, until - now));
  }
  PROFD_TRY(std::string text, state_->take_read());
  return std::optional(std::move(text));
}

bool WebSocketClient::closed() const {
  return state_->gone;
}

}  // namespace profd
