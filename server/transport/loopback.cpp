#include "server/transport/loopback.h"

#include <utility>

#include <fmt/format.h>

namespace profd {

Result<asio::ip::tcp::acceptor> listen_on_loopback(asio::io_context& io, std::uint16_t port) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint wanted(asio::ip::address_v4::loopback(), port);
  asio::ip::tcp::acceptor acceptor(io);
  acceptor.open(wanted.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(wanted, error);
  if (!error) acceptor.listen(64, error);
  if (error) return fail(ErrorCode::io, fmt::format("127.0.0.1:{}: {}", port, error.message()));
  return acceptor;
}

}  // namespace profd
