// The page of code that a session has in a file, for editors that cannot be given documents.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace profd {

// Which code it is a worker finds out, so workers write and the strand reads.
class CodePage {
 public:
  // `page`: URI of the file; `code`: that of the document whose text it has.
  void set(std::string page, std::string code) {
    const std::lock_guard lock(mutex_);
    page_ = std::move(page);
    code_ = std::move(code);
  }
  // "": it is no such page.
  [[nodiscard]] std::string code_of(const std::string& uri) const {
    const std::lock_guard lock(mutex_);
    return uri == page_ ? code_ : "";
  }

 private:
  mutable std::mutex mutex_;
  std::string page_, code_;
};

}  // namespace profd
