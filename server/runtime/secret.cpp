#include "server/runtime/secret.h"

#include <random>

#include "server/runtime/base64.h"

namespace profd {

std::string make_secret(std::size_t n_bytes) {
  std::random_device random;  // getrandom(2) or arc4random
  std::string bytes;
  while (bytes.size() < n_bytes) bytes += static_cast<char>(random() & 255);
  return to_base64url(bytes);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ (b.empty() ? '\0' : b[i % b.size()])));
  return difference == 0;
}

}  // namespace profd
