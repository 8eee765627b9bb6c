#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <zlib.h>

namespace profd::bench {

// Buffered output to a file ("-" is standard output), gzip'd by zlib when level > 0.
// Errors are remembered; close() tells.
class Sink {
 public:
  Sink(const std::string& path, int gzip_level);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view data);
  // Bytes given to write() so far, before compression.
  std::uint64_t bytes() const { return bytes_; }
  bool close();

 private:
  void flush();
  void deflate_buffer(int mode);
  void put(const char* data, std::size_t size);

  std::FILE* file_;
  std::unique_ptr<z_stream> gzip_;
  std::string buffer_, packed_;
  std::uint64_t bytes_ = 0;
  bool failed_ = false;
};

}  // namespace profd::bench
