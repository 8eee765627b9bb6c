#include "native/fetch/debuginfod_library.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace profd::native {
namespace {

using worker::FetchEnd;
using worker::Fetching;
using worker::FetchOrder;

struct Client;  // the library's
using ProgressCall = int (*)(Client*, long, long);

struct Library {
  Client* (*begin)() = nullptr;
  void (*end)(Client*) = nullptr;
  int (*find)(Client*, const unsigned char* build_id, int length, char** path) = nullptr;
  void (*set_progress)(Client*, ProgressCall) = nullptr;
  const char* (*url)(Client*) = nullptr;
};

template <class Function>
bool symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool open_library(Library& out) {
  void* const library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && symbol(library, "debuginfod_begin", out.begin) &&
         symbol(library, "debuginfod_end", out.end) &&
         symbol(library, "debuginfod_find_debuginfo", out.find) &&
         symbol(library, "debuginfod_set_progressfn", out.set_progress) &&
         symbol(library, "debuginfod_get_url", out.url);
}

struct Telling {
  const Library& library;
  const std::function<bool(const Fetching&)>& tell;
  Fetching so_far;
  bool given_up = false;
};

// What the library calls gets its client and nothing of ours; this process asks for one file.
Telling*& telling_of_process() {
  static Telling* telling = nullptr;
  return telling;
}

int progress(Client* client, long done, long total) {
  Telling* const telling = telling_of_process();
  if (const char* url = telling->library.url(client); url != nullptr) telling->so_far.from = url;
  // Without a total it counts how often it looked.
  telling->so_far.done = total > 0 && done > 0 ? static_cast<std::uint64_t>(done) : 0;
  telling->so_far.total = total > 0 ? static_cast<std::uint64_t>(total) : 0;
  telling->given_up = telling->given_up || !telling->tell(telling->so_far);
  return telling->given_up ? 1 : 0;
}

// What was given up counts with the library as what no server has, which it keeps as an empty file.
void forget_absence(const FetchOrder& order) {
  const std::string folder = order.folder + "/" + order.build_id, file = folder + "/debuginfo";
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || status.st_size != 0) return;
  ::unlink(file.c_str());
  ::rmdir(folder.c_str());
}

Fetching ended(int error, const FetchOrder& order, Fetching out) {
  const auto with = [&](FetchEnd end, std::string why) {
    out.end = end;
    out.why = std::move(why);
    return out;
  };
  switch (error) {
    case ENOENT:
      return with(FetchEnd::absent, "no server has it");
    case EFBIG:
      return with(FetchEnd::absent, "it is larger than " + std::to_string(order.most_bytes >> 20) + " MiB");
    case ETIME:
    case ETIMEDOUT:
      return with(FetchEnd::unreachable, "the server did not answer in time");
    case ECONNREFUSED:
      return with(FetchEnd::unreachable, "the server takes no connections");
    case EHOSTUNREACH:
      return with(FetchEnd::unreachable, "the server cannot be reached");
    case EACCES:
    case EROFS:
    case ENOSPC:
      return with(FetchEnd::unable, order.folder + ": " + std::strerror(error));
    default:
      return with(FetchEnd::unreachable, std::strerror(error));
  }
}

}  // namespace

Fetching fetch_debug_file(const FetchOrder& order, const std::function<bool(const Fetching&)>& tell) {
  std::string servers;
  for (const std::string& server : order.servers) servers += (servers.empty() ? "" : " ") + server;
  for (const std::string& variable : order.variables)
    if (const std::size_t equals = variable.find('='); equals != std::string::npos)
      ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  ::setenv("DEBUGINFOD_URLS", servers.c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", order.folder.c_str(), 1);
  ::setenv("DEBUGINFOD_MAXSIZE", std::to_string(order.most_bytes).c_str(), 1);
  Fetching out;
  Library library;
  if (!open_library(library)) {
    out.end = FetchEnd::unable;
    out.why = "libdebuginfod is not installed (Debian: libdebuginfod1)";
    return out;
  }
  Client* const client = library.begin();
  if (client == nullptr) return ended(ENOMEM, order, out);
  Telling telling{library, tell, {}, false};
  telling_of_process() = &telling;
  library.set_progress(client, progress);
  // Length 0: it is in hexadecimal.
  const int file =
      library.find(client, reinterpret_cast<const unsigned char*>(order.build_id.c_str()), 0, nullptr);
  out = telling.so_far;
  library.end(client);
  if (telling.given_up) forget_absence(order);
  if (file < 0) return ended(-file, order, out);
  ::close(file);
  out.end = FetchEnd::there;
  return out;
}

}  // namespace profd::native
