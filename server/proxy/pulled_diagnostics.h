// Diagnostics that the editor asks for: the report of the wrapped server, with what profd says of the
// document added to it.
//
// profd pushes, so nothing waits for it. What it says of a document has a number; a report that has some in
// it carries that number in its resultId, so that the wrapped server is asked for all of its report again
// where the editor has others of profd than there are now. Reports without any of profd stay the bytes that
// came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

class PulledDiagnostics {
 public:
  // Of more than these the wrapped server's reports are passed on as they are, and profd goes on pushing.
  static constexpr std::size_t kMaxDocuments = 10'000;

  // `tag`: nobody else's result ids begin with it.
  explicit PulledDiagnostics(std::string tag) : tag_(std::move(tag)) {}

  // `params` of the editor's textDocument/diagnostic. True: it had not asked for this document before.
  bool begin(std::string_view params);
  struct Asked {
    std::string document, identifier;
    std::uint64_t known = 0;            // what the editor has of profd, where it is still right; 0 nothing
    std::optional<std::string> params;  // what the server is to be asked; nothing: as it was
  };
  [[nodiscard]] Asked asked(std::string_view params) const;
  // Of workspace/diagnostic; nothing: as they were.
  [[nodiscard]] std::optional<std::string> workspace_asked(std::string_view params) const;
  // A result of the server, or a part of one; nothing: it stands.
  std::optional<std::string> answered(const Asked& asked, std::string_view report);

  // Whether profd's message is about a document that the editor asks for: then it is kept.
  enum class Taken : std::uint8_t { no, same, changed };
  Taken from_profd(const std::string& body);
  // Nothing of profd is left; true where there was something.
  bool without_profd();
  void closed(std::string_view uri);
  // The editor may ask no more. What profd said, to be pushed again.
  std::vector<std::string> end();

 private:
  struct Document {
    std::string identifier;    // as JSON; of several providers the first that was asked shows those of profd
    std::string profd;         // its message; "" none, or it was empty
    std::uint64_t number = 0;  // of what profd says; 0 nothing
    std::uint64_t told = 0;    // what the last report had
  };
  [[nodiscard]] std::string tagged(std::uint64_t number, std::string_view id) const;
  struct Tagged {
    std::uint64_t number = 0;
    std::string id;  // the server's, as JSON
  };
  [[nodiscard]] std::optional<Tagged> untagged(std::string_view id) const;
  [[nodiscard]] std::optional<std::string> with_profd(Document& document, std::uint64_t known,
                                                      std::string_view report) const;
  [[nodiscard]] Document* shown_by(const std::string& document, std::string_view identifier);

  std::string tag_;
  std::map<std::string, Document, std::less<>> of_;  // by document_of_uri()
  std::uint64_t last_ = 0;
};

}  // namespace profd
