// Boost.Asio under its short name, for the transports alone.
#pragma once

#include <boost/asio/io_context.hpp>

namespace profd {

namespace asio = boost::asio;

}  // namespace profd
