#include "server/engine/debug_fetch.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/engine/cache_folder.h"
#include "server/engine/symbol_files.h"
#include "server/platform/worker_process.h"

namespace profd {
namespace {

using worker::FetchEnd;
using worker::Fetching;

constexpr const char* kFetcher = "profd-fetch";
// One file, whatever room the folder has.
constexpr std::uint64_t kMaxFetchedFile = std::uint64_t{4} << 30;
// How often somebody who waits is looked after, and how long who is stopped has to tidy up.
constexpr int kLookAroundMs = 50;
// What libraries that ask servers go by: the user's proxies and certificates.
constexpr const char* kVariables[] = {"http_proxy",   "https_proxy",   "all_proxy",      "no_proxy",
                                      "HTTP_PROXY",   "HTTPS_PROXY",   "ALL_PROXY",      "NO_PROXY",
                                      "SSL_CERT_DIR", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "DEBUGINFOD_TIMEOUT",
                                      "HOME"};

Fetching unable(std::string why) {
  Fetching out;
  out.end = FetchEnd::unable;
  out.why = std::move(why);
  return out;
}

// The user's alone.
std::string make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  struct stat status {};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fmt::format("{}: {}", folder, std::generic_category().message(errno));
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 077) != 0)
    return folder + " is not this user's alone";
  return {};
}

// Files of the folder go, those used longest ago first, until what is left fits. What was fetched now stays.
void make_room_for(const FetchPlaces& places, const std::string& build_id) {
  std::vector<CacheFile> files;
  std::vector<std::string> folders;
  std::uint64_t total = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(places.folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!is_build_id(it->path().filename().string())) continue;
    const bool stays = it->path().filename() == build_id;
    const std::size_t before = files.size();
    for (CacheFile& file : files_in(it->path().string())) {
      total += file.size;
      if (!stays && file.size > 0) files.push_back(std::move(file));
    }
    if (files.size() > before) folders.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end(),
            [](const CacheFile& a, const CacheFile& b) { return is_before(a.used, b.used); });
  remove_until(total, places.max_bytes, files);
  // Those that are empty now.
  if (total > places.max_bytes)
    for (const std::string& folder : folders) ::rmdir(folder.c_str());
}

worker::FetchOrder order_of(const std::string& build_id, const FetchPlaces& places) {
  worker::FetchOrder order;
  order.build_id = build_id;
  order.servers = places.servers;
  order.folder = places.folder;
  order.most_bytes = std::min(places.max_bytes, kMaxFetchedFile);
  for (const char* name : kVariables)
    if (const char* value = std::getenv(name); value != nullptr)
      order.variables.push_back(fmt::format("{}={}", name, value));
  return order;
}

// Told that nobody waits, it takes away what it has begun.
void give_up(WorkerProcess& process) {
  static_cast<void>(process.end());
}

}  // namespace

std::string fetcher_beside(const std::string& symbolizer) {
  return (std::filesystem::path(symbolizer).parent_path() / kFetcher).string();
}

std::string fetched_path(const FetchPlaces& places, const std::string& build_id) {
  return fmt::format("{}/{}/debuginfo", places.folder, build_id);
}

bool can_fetch(const FetchPlaces& places, const std::string& build_id) {
  return !places.servers.empty() && !places.folder.empty() && is_build_id(build_id);
}

Result<Fetching> fetch_debug_file(const std::string& build_id, const FetchPlaces& places,
                                  const FetchMeans& means,
                                  const std::function<void(const Fetching& so_far)>& tell,
                                  const StopToken& stop) {
  using Clock = std::chrono::steady_clock;
  if (std::string problem = make_folder(places.folder); !problem.empty()) return unable(std::move(problem));
  const worker::FetchOrder order = order_of(build_id, places);
  WorkerLimits limits;
  limits.file_bytes = order.most_bytes;
  auto process = WorkerProcess::start(means.program, limits);
  if (!process) return unable(fmt::format("{} cannot be started: {}", kFetcher, process.error().message));
  auto deadline = Clock::now() + means.patience;
  if (auto sent = process->send(encode(order), {}, deadline); !sent)
    return unable(fmt::format("{}: {}", kFetcher, sent.error().message));
  while (true) {
    if (auto status = stop.status(); !status) {
      give_up(*process);
      return tl::unexpected<Error>(std::move(status).error());
    }
    pollfd fd{process->socket(), POLLIN, 0};
    ::poll(&fd, 1, kLookAroundMs);
    if (fd.revents == 0) {
      if (Clock::now() < deadline) continue;
      give_up(*process);
      return unable(fmt::format("{} said nothing for {} s and was ended", kFetcher,
                                std::chrono::duration_cast<std::chrono::seconds>(means.patience).count()));
    }
    auto frame = process->receive(deadline);
    if (!frame) {
      const std::string how = process->end();
      return unable(fmt::format("{} {}", kFetcher, how.empty() ? "stopped answering and was ended" : how));
    }
    auto fetching = worker::decode_fetching(frame->bytes);
    if (!fetching) return unable(fmt::format("{}: {}", kFetcher, fetching.error().message));
    if (fetching->version != PROFD_VERSION)
      return unable(
          fmt::format("{} is of version {}, and profd of {}", kFetcher, fetching->version, PROFD_VERSION));
    deadline = Clock::now() + means.patience;
    if (fetching->end == FetchEnd::goes_on) {
      if (tell) tell(*fetching);
      continue;
    }
    if (fetching->end == FetchEnd::there) make_room_for(places, build_id);
    return std::move(*fetching);
  }
}

}  // namespace profd
