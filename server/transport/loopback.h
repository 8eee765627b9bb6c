// A TCP port of this machine alone: what the daemon and its web server listen on.
#pragma once

#include <cstdint>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/support/result.h"
#include "server/transport/asio.h"

namespace profd {

// Listens on 127.0.0.1; `port` 0 takes one that is free. An error names the address and the system's reason.
[[nodiscard]] Result<asio::ip::tcp::acceptor> listen_on_loopback(asio::io_context& io, std::uint16_t port);

}  // namespace profd
