// The framer: however the bytes of a stream arrive, the same messages and errors come out. The first byte
// says in what pieces, and chooses narrow limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/framing.h"

using namespace profd::protocol;

namespace {

std::vector<std::string> frames_of(std::string_view stream, std::size_t piece, FrameLimits limits) {
  FrameReader reader(limits);
  std::vector<std::string> frames;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    reader.feed(stream.substr(at, piece));
    while (const auto frame = reader.next()) {
      if (const auto* error = std::get_if<FrameError>(&*frame)) {
        if (error->message.empty() || error->byte > stream.size()) std::abort();
        frames.push_back("error at " + std::to_string(error->byte) + ": " + error->message);
      } else {
        frames.push_back("body: " + std::get<std::string>(*frame));
      }
    }
    if (reader.pending_bytes() > limits.max_header_bytes + limits.max_content_bytes + piece) std::abort();
  }
  if (const auto cut = reader.finish()) frames.push_back("cut at " + std::to_string(cut->byte));
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  FrameLimits limits;
  if ((data[0] & 1) != 0) limits = {64, 256};
  const std::size_t piece = 1 + (data[0] >> 1);
  const auto whole = frames_of(stream, stream.size(), limits);
  const auto pieces = frames_of(stream, piece, limits);
  if (whole != pieces) {
    for (const std::string& frame : whole) std::fprintf(stderr, "whole  %s\n", frame.c_str());
    for (const std::string& frame : pieces) std::fprintf(stderr, "pieces %s\n", frame.c_str());
    std::abort();
  }
  // What the framer writes, it reads.
  const auto again = frames_of(frame(stream), piece, {});
  if (again.size() != 1 || again.front() != "body: " + std::string(stream)) std::abort();
  return 0;
}
