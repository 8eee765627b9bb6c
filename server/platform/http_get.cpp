#include "server/platform/http_get.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace profd {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kMaxHeaders = 32u << 10;
constexpr std::size_t kPieceOfBody = std::size_t{256} << 10;
constexpr std::size_t kMaxErrorBody = 4096;
constexpr milliseconds kConnectTime{10'000};
constexpr milliseconds kGlance{50};  // how soon a stop is seen

beast::string_view view_of(const std::string& text) {
  return {text.data(), text.size()};
}

class Getting {
 public:
  Getting(const HttpGet& request, const StopToken& stop) : request_(request), stop_(stop), socket_(io_) {}

  Result<HttpAnswer> get() {
    PROFD_CHECK(connect());
    PROFD_CHECK(send());
    PROFD_CHECK(read_head());
    HttpAnswer answer;
    answer.status = parser_.get().result_int();
    const beast::string_view location = parser_.get()[http::field::location];
    answer.location.assign(location.data(), location.size());
    PROFD_CHECK(read_body(answer));
    return answer;
  }

 private:
  // Runs what was begun to its end, in glances.
  Result<void> wait(const bool& done, Clock::time_point until, std::string_view what) {
    while (!done) {
      PROFD_CHECK(stop_.status());
      if (Clock::now() >= until)
        return fail(ErrorCode::io, fmt::format("{}: {} in time", request_.shown, what));
      if (asked_ && request_.waiting)
        request_.waiting(std::chrono::duration_cast<milliseconds>(Clock::now() - *asked_));
      io_.restart();
      io_.run_one_for(kGlance);
    }
    return {};
  }

  Result<void> connect() {
    asio::ip::tcp::resolver resolver(io_);
    beast::error_code error;
    bool done = false;
    asio::ip::tcp::resolver::results_type found;
    const Clock::time_point until = Clock::now() + kConnectTime;
    resolver.async_resolve(request_.host, request_.port,
                           [&](const beast::error_code& why, asio::ip::tcp::resolver::results_type results) {
                             error = why;
                             found = std::move(results);
                             done = true;
                           });
    Result<void> waited = wait(done, until, "its host was not found");
    if (!waited) {
      resolver.cancel();
      return drain(done, std::move(waited));
    }
    if (error)
      return fail(ErrorCode::io,
                  fmt::format("{}: there is no host {}: {}", request_.shown, request_.host, error.message()));
    done = false;
    asio::async_connect(socket_, found, [&](const beast::error_code& why, const asio::ip::tcp::endpoint&) {
      error = why;
      done = true;
    });
    waited = wait(done, until, "nobody took the connection");
    if (!waited) return drain(done, std::move(waited));
    if (error)
      return fail(ErrorCode::io,
                  fmt::format("{}: nobody answers there ({}); does the program run, and does it listen on "
                              "this port?",
                              request_.shown, error.message()));
    return {};
  }

  // What was begun ends before what it refers to does.
  Result<void> drain(const bool& done, Result<void> why) {
    beast::error_code ignored;
    socket_.close(ignored);
    while (!done) {
      io_.restart();
      io_.run_one_for(kGlance);
    }
    return why;
  }

  Result<void> send() {
    const bool is_v6 = request_.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + request_.host + "]" : request_.host;
    http::request<http::empty_body> out(http::verb::get, view_of(request_.target), 11);
    out.set(http::field::host, view_of(request_.port == "80" ? host : host + ":" + request_.port));
    out.set(http::field::user_agent, "profd");
    out.set(http::field::accept, "*/*");
    out.set(http::field::accept_encoding, "identity");
    out.set(http::field::connection, "close");
    beast::error_code error;
    bool done = false;
    http::async_write(socket_, out, [&](const beast::error_code& why, std::size_t) {
      error = why;
      done = true;
    });
    Result<void> waited = wait(done, Clock::now() + kConnectTime, "the request was not taken");
    if (!waited) return drain(done, std::move(waited));
    asked_ = Clock::now();
    return {};  // a server that has closed may have answered before
  }

  Result<void> read_head() {
    parser_.header_limit(kMaxHeaders);
    parser_.body_limit(request_.max_bytes);
    beast::error_code error;
    bool done = false;
    http::async_read_header(socket_, buffer_, parser_, [&](const beast::error_code& why, std::size_t) {
      error = why;
      done = true;
    });
    Result<void> waited = wait(done, *asked_ + request_.patience, "there was no answer");
    asked_.reset();
    if (!waited) return drain(done, std::move(waited));
    if (error) return tl::unexpected<Error>(told(error));
    return {};
  }

  Result<void> read_body(HttpAnswer& answer) {
    const bool is_ok = answer.status == 200;
    const std::uint64_t total = parser_.content_length().value_or(0);
    const Clock::time_point until = Clock::now() + request_.body_time;
    std::string piece(kPieceOfBody, '\0');
    while (!parser_.is_done()) {
      parser_.get().body().data = piece.data();
      parser_.get().body().size = piece.size();
      beast::error_code error;
      bool done = false;
      http::async_read_some(socket_, buffer_, parser_, [&](const beast::error_code& why, std::size_t) {
        error = why;
        done = true;
      });
      const Clock::time_point silent = Clock::now() + request_.silence;
      Result<void> waited = wait(done, std::min(until, silent), "its answer did not end");
      if (!waited) return drain(done, std::move(waited));
      if (error && error != http::error::need_buffer) {
        if (!is_ok) return {};  // the status says what is wrong
        return tl::unexpected<Error>(told(error));
      }
      const std::size_t n = piece.size() - parser_.get().body().size;
      if (answer.body.size() + n > request_.max_bytes)  // chunks say no length before
        return tl::unexpected<Error>(told(http::error::body_limit));
      answer.body.append(piece, 0, n);
      if (!is_ok && answer.body.size() >= kMaxErrorBody) return {};
      if (is_ok && request_.reading) request_.reading(answer.body.size(), total);
    }
    return {};
  }

  Error told(const beast::error_code& error) const {
    const auto make = [&](ErrorCode code, std::string_view text) {
      return Error{code, fmt::format("{}: {}", request_.shown, text), std::nullopt, {}};
    };
    if (error == http::error::body_limit)
      return make(ErrorCode::limit, fmt::format("the answer is larger than {} MiB, the most that is read",
                                                request_.max_bytes >> 20));
    if (error == http::error::header_limit)
      return make(ErrorCode::limit, "its headers are larger than any that are meant");
    if (error == http::error::partial_message)
      return make(ErrorCode::io, "the connection ended in the middle of the answer; ask again");
    if (error == http::error::end_of_stream)
      return make(ErrorCode::io, "the connection was closed without an answer");
    if (error.category() == http::make_error_code(http::error::bad_method).category())
      return make(ErrorCode::io, "what answers there does not speak HTTP");
    return make(ErrorCode::io, fmt::format("the connection broke ({})", error.message()));
  }

  const HttpGet& request_;
  const StopToken& stop_;
  asio::io_context io_{1};
  asio::ip::tcp::socket socket_;
  beast::flat_buffer buffer_{kMaxHeaders + kPieceOfBody};
  http::response_parser<http::buffer_body> parser_;
  std::optional<Clock::time_point> asked_;  // while the answer is waited for
};

}  // namespace

Result<HttpAnswer> http_get(const HttpGet& request, const StopToken& stop) {
  return Getting(request, stop).get();
}

}  // namespace profd
