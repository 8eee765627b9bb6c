// Diagnostics that are pushed: an editor keeps one list a document and server, so what both say of a document
// is one list.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

class JoinedDiagnostics {
 public:
  // Messages of the server that are kept; more are passed on and not joined with.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  // `body`: a textDocument/publishDiagnostics of the server. What the editor is to get.
  std::string from_server(std::string body);
  // Of profd. Nothing: what the server said of this document was not kept, and must not be replaced.
  std::optional<std::string> from_profd(std::string body);
  struct HandedOver {
    std::string profd;  // its message
    std::string left;   // what the editor is to get instead of what it has
  };
  // Those of profd of a document are no longer shown by pushing. Nothing: there are none.
  std::optional<HandedOver> hand_over(const std::string& document);
  // Those of profd are no more. What the editor is to get.
  std::vector<std::string> without_profd();

 private:
  struct Both {
    std::string server;  // the message; "" none, or it was empty
    std::string profd;   // the message; "" none, or it was empty
  };
  [[nodiscard]] static std::string joined(const std::string& server, const std::string& profd);

  std::map<std::string, Both, std::less<>> of_;  // by document_of_uri()
  std::size_t bytes_ = 0;
  bool lossy_ = false;  // something of the server was not kept
};

}  // namespace profd
