#include "bench/gen/sink.h"

namespace profd::bench {
namespace {

constexpr std::size_t kBufferSize = 1 << 20;
constexpr int kGzipWindow = 15 + 16;

}  // namespace

Sink::Sink(const std::string& path, int gzip_level)
    : file_(path == "-" ? stdout : std::fopen(path.c_str(), "wb")) {
  failed_ = file_ == nullptr;
  buffer_.reserve(2 * kBufferSize);
  if (gzip_level <= 0) return;
  gzip_ = std::make_unique<z_stream>();
  failed_ |= deflateInit2(gzip_.get(), gzip_level, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) != Z_OK;
  packed_.resize(kBufferSize);
}

Sink::~Sink() {
  close();
}

void Sink::write(std::string_view data) {
  bytes_ += data.size();
  buffer_ += data;
  if (buffer_.size() >= kBufferSize) flush();
}

bool Sink::close() {
  if (file_ == nullptr) return false;
  if (gzip_) {
    deflate_buffer(Z_FINISH);
    deflateEnd(gzip_.get());
    gzip_.reset();
  } else {
    flush();
  }
  failed_ |= (file_ == stdout ? std::fflush(file_) : std::fclose(file_)) != 0;
  file_ = nullptr;
  return !failed_;
}

void Sink::flush() {
  if (gzip_) return deflate_buffer(Z_NO_FLUSH);
  put(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void Sink::deflate_buffer(int mode) {
  gzip_->next_in = reinterpret_cast<Bytef*>(buffer_.data());
  gzip_->avail_in = static_cast<uInt>(buffer_.size());
  do {
    gzip_->next_out = reinterpret_cast<Bytef*>(packed_.data());
    gzip_->avail_out = static_cast<uInt>(packed_.size());
    deflate(gzip_.get(), mode);
    put(packed_.data(), packed_.size() - gzip_->avail_out);
  } while (gzip_->avail_out == 0);
  buffer_.clear();
}

void Sink::put(const char* data, std::size_t size) {
  if (!failed_ && std::fwrite(data, 1, size, file_) != size) failed_ = true;
}

}  // namespace profd::bench
