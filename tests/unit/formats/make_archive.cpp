#include "tests/unit/formats/make_archive.h"

#include <cstdint>
#include <cstring>

#include <bzlib.h>
#include <fmt/format.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace profd::test {
namespace {

std::string deflate_with(const std::string& content, int window_bits) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, content.size()) + 64, '\0');
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

void put(std::string& out, std::uint64_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) out.push_back(i < 8 ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0');
}

std::string tar_header(const std::string& name, std::size_t size, char type) {
  std::string header(512, '\0');
  const auto at = [&](std::size_t offset, const std::string& text) {
    text.copy(header.data() + offset, text.size());
  };
  at(0, name.substr(0, 100));
  at(100, "0000644");
  at(124, fmt::format("{:011o}", size));
  at(136, "00000000000");
  at(148, "        ");
  header[156] = type;
  at(257, std::string("ustar\0"
                      "00",
                      8));
  unsigned sum = 0;
  for (char c : header) sum += static_cast<unsigned char>(c);
  at(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

std::string padded(std::string content) {
  content.resize((content.size() + 511) / 512 * 512);
  return content;
}

}  // namespace

std::string gzip_of(const std::string& content) {
  return deflate_with(content, 15 + 16);
}
std::string raw_deflate(const std::string& content) {
  return deflate_with(content, -15);
}

std::string bzip2_of(const std::string& content) {
  std::string out(content.size() + content.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(out.size());
  if (BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(content.data()),
                               static_cast<unsigned>(content.size()), 9, 0, 0) != BZ_OK)
    std::abort();
  out.resize(size);
  return out;
}

std::string xz_of(const std::string& content) {
  std::string out(lzma_stream_buffer_bound(content.size()), '\0');
  std::size_t used = 0;
  if (lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                              reinterpret_cast<const std::uint8_t*>(content.data()), content.size(),
                              reinterpret_cast<std::uint8_t*>(out.data()), &used, out.size()) != LZMA_OK)
    std::abort();
  out.resize(used);
  return out;
}

std::string lz4_of(const std::string& content) {
  LZ4F_preferences_t checked{};
  checked.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string out(LZ4F_compressFrameBound(content.size(), &checked), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), content.data(), content.size(), &checked));
  return out;
}

std::string zstd_of(const std::string& content) {
  std::string out(ZSTD_compressBound(content.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 3));
  return out;
}

std::string zip_of(const std::vector<ZipEntry>& entries) {
  std::string out, directory;
  for (const ZipEntry& entry : entries) {
    const std::string data = entry.deflate ? raw_deflate(entry.content) : entry.content;
    const std::uint64_t crc = crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                                    static_cast<uInt>(entry.content.size()));
    std::string common;
    put(common, 20, 2);
    put(common, entry.encrypted ? 1 : 0, 2);
    put(common, entry.deflate ? 8 : 0, 2);
    put(common, 0, 4);
    put(common, crc, 4);
    put(common, data.size(), 4);
    put(common, entry.content.size(), 4);
    put(common, entry.name.size(), 2);
    put(common, 0, 2);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 10);
    put(directory, out.size(), 4);
    directory += entry.name;
    put(out, 0x04034b50, 4);
    out += common + entry.name + data;
  }
  const std::size_t start = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, entries.size(), 2);
  put(out, entries.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, content] : members) {
    if (name.size() > 100) {
      const std::string record = " path=" + name + "\n";
      std::size_t length = record.size() + 3;
      const std::string pax = fmt::format("{}{}", length, record);
      out += tar_header("PaxHeader", pax.size(), 'x') + padded(pax);
    }
    out += tar_header(name, content.size(), '0') + padded(content);
  }
  return out + std::string(1024, '\0');
}

}  // namespace profd::test
