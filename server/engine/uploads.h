// Files that clients send because they have bytes and no path: private, bounded, gone with the client.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

struct UploadLimits {
  std::uint32_t piece_bytes = std::uint32_t{1} << 20;
  std::size_t files = 16;                        // of one client
  std::uint64_t bytes = std::uint64_t{4} << 30;  // of all clients together
};

// Where the files of all clients of a daemon are. On the strand, as all here but what says otherwise.
class UploadRoom {
 public:
  // `parent`: a folder that only the user may enter; "" is the runtime folder.
  explicit UploadRoom(std::string parent, UploadLimits limits = {})
      : parent_(std::move(parent)), limits_(limits) {}
  ~UploadRoom();
  UploadRoom(const UploadRoom&) = delete;
  UploadRoom& operator=(const UploadRoom&) = delete;

  [[nodiscard]] const UploadLimits& limits() const { return limits_; }
  // Made when first asked for. It is locked as long as this is there: by that daemons know which are living.
  Result<std::string> folder();
  // Removes what daemons left that are gone. From any thread.
  void remove_leftovers() const;
  // Whether files that clients send are, or were, at such a path: of this daemon or of one before it.
  [[nodiscard]] bool is_of_uploads(const std::string& path) const;
  // A promise of so many bytes; false where they are not left.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { taken_ -= bytes; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  std::uint64_t next_number() { return ++number_; }

 private:
  [[nodiscard]] Result<std::string> uploads() const;

  std::string parent_, folder_;
  UniqueFd lock_;
  UploadLimits limits_;
  std::uint64_t taken_ = 0, number_ = 0;
};

// One client's. Its files go with it.
class Uploads {
 public:
  explicit Uploads(UploadRoom& room) : room_(room) {}
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // A piece that a worker writes. Until it is gone no other one is taken.
  class Piece {
   public:
    // From any thread. The bytes received so far.
    Result<std::uint64_t> write(std::string_view bytes);

   private:
    friend class Uploads;
    struct File;
    std::shared_ptr<File> file_;
    std::uint64_t offset_ = 0;
    std::shared_ptr<void> turn_;
  };

  // The id. `name` is what a person calls the file; the part after its folders is kept as far as a file can
  // be called so.
  Result<std::string> begin(std::string_view name, std::uint64_t size);
  Result<Piece> piece(const std::string& id, std::uint64_t offset, std::uint64_t n_bytes);
  struct Whole {
    std::string path, name;
  };
  Result<Whole> end(const std::string& id);
  Result<void> cancel(const std::string& id);

 private:
  Result<std::shared_ptr<Piece::File>> find(const std::string& id) const;

  UploadRoom& room_;
  std::map<std::string, std::shared_ptr<Piece::File>> files_;
};

// The last part of a path as a file's name: no control characters, no separators, at most 200 bytes.
std::string upload_name(std::string_view name);

}  // namespace profd
