#include "bench/gen/names.h"

#include <fmt/format.h>

namespace profd::bench {
namespace {

constexpr Language kGo = Language::go;
constexpr Language kCpp = Language::cpp;

constexpr NamedFrame kHttp[] = {
    {"net/http.(*Server).Serve.gowrap3", "net/http/server.go", 3285, kGo},
    {"net/http.(*conn).serve", "net/http/server.go", 2092, kGo},
    {"net/http.serverHandler.ServeHTTP", "net/http/server.go", 3210, kGo},
    {"net/http.(*ServeMux).ServeHTTP", "net/http/server.go", 2747, kGo},
    {"net/http.HandlerFunc.ServeHTTP", "net/http/server.go", 2220, kGo},
    {"github.com/acme/gateway/middleware.(*Tracing).ServeHTTP",
     "github.com/acme/gateway/middleware/tracing.go", 88, kGo},
    {"github.com/acme/gateway/middleware.(*Auth).ServeHTTP.func1",
     "github.com/acme/gateway/middleware/auth.go", 141, kGo},
    {"github.com/acme/gateway/router.(*Router).dispatch", "github.com/acme/gateway/router/router.go", 203,
     kGo},
};
constexpr NamedFrame kGrpc[] = {
    {"google.golang.org/grpc.(*Server).serveStreams.func2.1", "google.golang.org/grpc/server.go", 1042, kGo},
    {"google.golang.org/grpc.(*Server).handleStream", "google.golang.org/grpc/server.go", 1807, kGo},
    {"google.golang.org/grpc.(*Server).processUnaryRPC", "google.golang.org/grpc/server.go", 1394, kGo},
    {"github.com/acme/api/v2._Store_Query_Handler", "github.com/acme/api/v2/store_grpc.pb.go", 512, kGo},
    {"google.golang.org/grpc.getChainUnaryHandler.func1", "google.golang.org/grpc/server.go", 1203, kGo},
    {"github.com/acme/api/v2/interceptors.RateLimit.func1", "github.com/acme/api/v2/interceptors/limit.go",
     57, kGo},
    {"github.com/acme/api/v2._Store_Query_Handler.func1", "github.com/acme/api/v2/store_grpc.pb.go", 508,
     kGo},
};
constexpr NamedFrame kMain[] = {
    {"runtime.main", "runtime/proc.go", 283, kGo},
    {"main.main", "github.com/acme/store/cmd/stored/main.go", 61, kGo},
    {"github.com/spf13/cobra.(*Command).Execute", "github.com/spf13/cobra/command.go", 1041, kGo},
    {"github.com/spf13/cobra.(*Command).ExecuteC", "github.com/spf13/cobra/command.go", 1117, kGo},
    {"github.com/spf13/cobra.(*Command).execute", "github.com/spf13/cobra/command.go", 985, kGo},
    {"main.newServeCommand.func1", "github.com/acme/store/cmd/stored/serve.go", 118, kGo},
};
constexpr NamedFrame kWorker[] = {
    {"golang.org/x/sync/errgroup.(*Group).Go.func1", "golang.org/x/sync/errgroup/errgroup.go", 78, kGo},
    {"github.com/acme/store/compact.(*Pool).worker", "github.com/acme/store/compact/pool.go", 164, kGo},
    {"github.com/acme/store/compact.(*Job).Run", "github.com/acme/store/compact/job.go", 92, kGo},
};
constexpr NamedFrame kGc[] = {
    {"runtime.gcBgMarkWorker", "runtime/mgc.go", 1412, kGo},
    {"runtime.systemstack", "runtime/asm_amd64.s", 514, kGo},
    {"runtime.gcBgMarkWorker.func2", "runtime/mgc.go", 1457, kGo},
};
constexpr NamedFrame kThread[] = {
    {"clone3", "../sysdeps/unix/sysv/linux/x86_64/clone3.S", 78, kCpp},
    {"start_thread", "nptl/pthread_create.c", 447, kCpp},
    {"execute_native_thread_routine", "libstdc++-v3/src/c++11/thread.cc", 82, kCpp},
    {"std::thread::_State_impl<std::thread::_Invoker<std::tuple<engine::ThreadPool::start(unsigned "
     "long)::{lambda()#1}> > >::_M_run()",
     "/usr/include/c++/12/bits/std_thread.h", 210, kCpp},
    {"engine::ThreadPool::run(unsigned long)", "src/engine/thread_pool.cc", 133, kCpp},
    {"std::function<void ()>::operator()() const", "/usr/include/c++/12/bits/std_function.h", 591, kCpp},
    {"engine::Task::execute(engine::Context&)", "src/engine/task.cc", 77, kCpp},
};
constexpr NamedFrame kNative[] = {
    {"_start", "../sysdeps/x86_64/start.S", 115, kCpp},
    {"__libc_start_main@@GLIBC_2.34", "csu/libc-start.c", 381, kCpp},
    {"main", "src/server/main.cc", 94, kCpp},
    {"server::Server::run()", "src/server/server.cc", 240, kCpp},
    {"boost::asio::detail::scheduler::run(boost::system::error_code&)",
     "boost/asio/detail/impl/scheduler.ipp", 210, kCpp},
    {"boost::asio::detail::scheduler::do_run_one(boost::asio::detail::conditionally_enabled_mutex::scoped_"
     "lock&, boost::asio::detail::scheduler_thread_info&, boost::system::error_code const&)",
     "boost/asio/detail/impl/scheduler.ipp", 492, kCpp},
    {"server::Connection::on_read(boost::system::error_code const&, unsigned long)",
     "src/server/connection.cc", 318, kCpp},
};
constexpr std::span<const NamedFrame> kRoots[] = {kHttp, kGrpc, kMain, kWorker, kGc, kThread, kNative};

constexpr NamedFrame kMalloc[] = {
    {"runtime.newobject", "runtime/malloc.go", 1386, kGo},
    {"runtime.mallocgc", "runtime/malloc.go", 1043, kGo},
    {"runtime.(*mcache).nextFree", "runtime/malloc.go", 948, kGo},
    {"runtime.(*mcache).refill", "runtime/mcache.go", 182, kGo},
    {"runtime.(*mcentral).cacheSpan", "runtime/mcentral.go", 121, kGo},
};
constexpr NamedFrame kSlice[] = {
    {"runtime.growslice", "runtime/slice.go", 261, kGo},
    {"runtime.memmove", "runtime/memmove_amd64.s", 431, kGo},
};
constexpr NamedFrame kMap[] = {
    {"runtime.mapassign_faststr", "runtime/map_faststr.go", 223, kGo},
    {"runtime.hashGrow", "runtime/map.go", 1098, kGo},
    {"runtime.makeBucketArray", "runtime/map.go", 371, kGo},
};
constexpr NamedFrame kMapRead[] = {
    {"runtime.mapaccess2", "runtime/map.go", 480, kGo},
    {"aeshashbody", "runtime/asm_amd64.s", 1302, kGo},
};
constexpr NamedFrame kGoLock[] = {
    {"sync.(*Mutex).Lock", "sync/mutex.go", 90, kGo},
    {"sync.(*Mutex).lockSlow", "sync/mutex.go", 171, kGo},
    {"runtime.semacquire1", "runtime/sema.go", 160, kGo},
    {"runtime.gopark", "runtime/proc.go", 424, kGo},
    {"runtime.mcall", "runtime/asm_amd64.s", 458, kGo},
};
constexpr NamedFrame kGoWrite[] = {
    {"os.(*File).Write", "os/file.go", 195, kGo},
    {"internal/poll.(*FD).Write", "internal/poll/fd_unix.go", 383, kGo},
    {"syscall.Write", "syscall/syscall_unix.go", 211, kGo},
    {"syscall.Syscall", "syscall/syscall_linux.go", 73, kGo},
    {"internal/runtime/syscall.Syscall6", "internal/runtime/syscall/asm_linux_amd64.s", 36, kGo},
};
constexpr NamedFrame kBarrier[] = {
    {"runtime.gcWriteBarrier", "runtime/asm_amd64.s", 1736, kGo},
    {"runtime.wbBufFlush", "runtime/mwbbuf.go", 170, kGo},
    {"runtime.wbBufFlush1", "runtime/mwbbuf.go", 219, kGo},
};
constexpr NamedFrame kNew[] = {
    {"operator new(unsigned long)", "libstdc++-v3/libsupc++/new_op.cc", 50, kCpp},
    {"malloc", "malloc/malloc.c", 3294, kCpp},
    {"_int_malloc", "malloc/malloc.c", 4080, kCpp},
    {"malloc_consolidate", "malloc/malloc.c", 4692, kCpp},
};
constexpr NamedFrame kFree[] = {
    {"operator delete(void*, unsigned long)", "libstdc++-v3/libsupc++/del_ops.cc", 31, kCpp},
    {"cfree@GLIBC_2.2.5", "malloc/malloc.c", 3362, kCpp},
    {"_int_free", "malloc/malloc.c", 4487, kCpp},
};
constexpr NamedFrame kCopy[] = {
    {"__memmove_avx_unaligned_erms", "sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S", 360, kCpp}};
constexpr NamedFrame kString[] = {
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_append(char "
     "const*, unsigned long)",
     "/usr/include/c++/12/bits/basic_string.tcc", 422, kCpp},
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_mutate(unsigned "
     "long, unsigned long, char const*, unsigned long)",
     "/usr/include/c++/12/bits/basic_string.tcc", 333, kCpp},
    {"__memcpy_avx_unaligned_erms", "sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S", 238, kCpp},
};
constexpr NamedFrame kMutex[] = {
    {"pthread_mutex_lock", "nptl/pthread_mutex_lock.c", 93, kCpp},
    {"__lll_lock_wait", "nptl/lowlevellock.c", 50, kCpp},
};
constexpr NamedFrame kWrite[] = {
    {"__write", "../sysdeps/unix/sysv/linux/write.c", 26, kCpp},
    {"entry_SYSCALL_64_after_hwframe", "arch/x86/entry/entry_64.S", 121, kCpp},
    {"do_syscall_64", "arch/x86/entry/common.c", 83, kCpp},
    {"ksys_write", "fs/read_write.c", 637, kCpp},
    {"vfs_write", "fs/read_write.c", 582, kCpp},
    {"ext4_file_write_iter", "fs/ext4/file.c", 717, kCpp},
};
constexpr std::span<const NamedFrame> kRuntime[] = {kMalloc,  kSlice,   kMap,  kMapRead, kGoLock,
                                                    kGoWrite, kBarrier, kNew,  kFree,    kCopy,
                                                    kString,  kMutex,   kWrite};

constexpr std::string_view kVerbs[] = {
    "Get",     "Put",      "Scan",    "Seek",     "Flush",    "Merge",    "Split",   "Encode",
    "Decode",  "Parse",    "Plan",    "Optimize", "Lookup",   "Insert",   "Delete",  "Apply",
    "Commit",  "Rollback", "Acquire", "Release",  "Validate", "Resolve",  "Render",  "Build",
    "Compile", "Execute",  "Fetch",   "Read",     "Write",    "Append",   "Iterate", "Visit",
    "Collect", "Rewrite",  "Hash",    "Compare",  "Sort",     "Filter",   "Project", "Join",
    "Group",   "Emit",     "Process", "Handle",   "Dispatch", "Schedule", "Notify",  "Update"};
constexpr std::string_view kNouns[] = {
    "Row",     "Batch",    "Page",      "Block", "Segment", "Index",  "Key",     "Value",   "Range",
    "Cursor",  "Iterator", "Snapshot",  "Txn",   "Lock",    "Lease",  "Buffer",  "Chunk",   "Column",
    "Schema",  "Table",    "Partition", "Shard", "Replica", "Log",    "Entry",   "Record",  "Header",
    "Footer",  "Filter",   "Bloom",     "Cache", "Arena",   "Node",   "Tree",    "Leaf",    "Path",
    "Expr",    "Plan",     "Stage",     "Task",  "Request", "Reply",  "Message", "Frame",   "Packet",
    "Session", "Token",    "Symbol",    "Type",  "Scope",   "Module", "Rule",    "Pattern", "Match",
    "Group",   "Window",   "Metric",    "Label", "Series",  "Sample"};
constexpr std::string_view kRoles[] = {"Reader",  "Writer",   "Manager", "Builder", "Store", "Impl",
                                       "Planner", "Executor", "Codec",   "Pool",    "Set",   "Map",
                                       "View",    "Context",  "Handler", "Visitor"};
constexpr std::string_view kAreas[] = {
    "storage", "query",  "plan",  "exec",   "wal",     "cache",     "index",  "codec",  "net",    "rpc",
    "auth",    "schema", "txn",   "raft",   "metrics", "trace",     "ingest", "search", "render", "config",
    "compact", "block",  "arrow", "parser", "expr",    "scheduler", "lease",  "blob",   "stream", "json"};
constexpr std::string_view kRepos[] = {"store",     "engine", "gateway", "fabric",
                                       "lakehouse", "common", "platform"};
constexpr std::string_view kParams[] = {"std::string_view",
                                        "unsigned long",
                                        "engine::Context&",
                                        "std::vector<std::byte, std::allocator<std::byte> > const&",
                                        "std::span<unsigned char const, 18446744073709551615ul>",
                                        "bool",
                                        "std::shared_ptr<engine::Arena> const&",
                                        "int",
                                        "storage::ReadOptions const&"};
constexpr std::string_view kEndpoints[] = {
    "/v1/query",  "/v1/ingest", "/v1/labels", "/v1/series",  "/v2/tables",        "/v2/scan",
    "/v2/commit", "/healthz",   "/metrics",   "/admin/move", "store.Store/Query", "store.Store/Watch"};

template <std::size_t N>
std::string_view pick(const std::string_view (&words)[N], Rng& rng) {
  return words[rng.below(N)];
}

std::string lower_first(std::string_view word) {
  std::string out(word);
  out[0] = static_cast<char>(out[0] | 0x20);
  return out;
}

std::string snake(std::string_view word) {
  std::string out;
  for (char c : word) {
    if (c >= 'A' && c <= 'Z') {
      if (!out.empty()) out += '_';
      c = static_cast<char>(c | 0x20);
    }
    out += c;
  }
  return out;
}

std::string go_function(std::string_view package, Rng& rng) {
  std::string out(package);
  out += '.';
  std::string method = std::string(pick(kVerbs, rng)) + std::string(pick(kNouns, rng));
  if (rng.chance(45)) method = lower_first(method);
  if (rng.chance(70)) {
    const bool pointer = rng.chance(85);
    if (pointer) out += "(*";
    out += pick(kNouns, rng);
    out += pick(kRoles, rng);
    if (rng.chance(6)) out += "[...]";
    out += pointer ? ")." : ".";
  }
  out += method;
  if (rng.chance(14)) out += ".func" + std::to_string(rng.between(1, 4));
  return out;
}

std::string cpp_function(std::string_view package, Rng& rng) {
  std::string out;
  const std::size_t slash = package.rfind('/');
  out += package.substr(slash == std::string_view::npos ? 0 : slash + 1);
  out += "::";
  if (rng.chance(12)) out += "(anonymous namespace)::";
  if (rng.chance(75)) {
    out += pick(kNouns, rng);
    out += pick(kRoles, rng);
    if (rng.chance(25)) {
      out += "<";
      out += pick(kAreas, rng);
      out += "::";
      out += pick(kNouns, rng);
      out += rng.chance(40) ? ", 64ul>" : ">";
    }
    out += "::";
  }
  out += snake(std::string(pick(kVerbs, rng)) + std::string(pick(kNouns, rng)));
  out += '(';
  const std::uint32_t n_params = rng.below(4);
  for (std::uint32_t i = 0; i < n_params; ++i) {
    if (i > 0) out += ", ";
    out += pick(kParams, rng);
  }
  out += ')';
  if (rng.chance(20)) out += " const";
  return out;
}

}  // namespace

std::span<const std::span<const NamedFrame>> root_chains() {
  return kRoots;
}
std::span<const std::span<const NamedFrame>> runtime_chains() {
  return kRuntime;
}
std::span<const std::string_view> endpoint_names() {
  return kEndpoints;
}

std::string package_path(Language language, std::uint32_t index, Rng& rng) {
  std::string out;
  if (language == Language::go) {
    out = "github.com/acme/";
    out += pick(kRepos, rng);
    if (rng.chance(30)) out += "/internal";
    if (rng.chance(60)) (out += '/') += pick(kAreas, rng);
  } else {
    out = "src/";
    out += pick(kAreas, rng);
  }
  (out += '/') += pick(kAreas, rng);
  if (index >= 64) out += std::to_string(index / 64);
  return out;
}

std::string source_file(Language language, std::string_view package, std::uint32_t index, Rng& rng) {
  std::string out(package);
  (out += '/') += lower_first(pick(kNouns, rng));
  (out += '_') += lower_first(pick(kRoles, rng));
  if (index > 0) out += std::to_string(index);
  return out += language == Language::go ? ".go" : ".cc";
}

std::string function_name(Language language, std::string_view package, Rng& rng) {
  return language == Language::go ? go_function(package, rng) : cpp_function(package, rng);
}

std::string variant_name(Language language, std::string_view name, std::uint32_t variant) {
  std::string out(name);
  if (language == Language::go) return out += ".func" + std::to_string(4 + variant);
  const std::size_t paren = out.rfind('(');
  return out.insert(paren == std::string::npos ? out.size() : paren, fmt::format("<{}ul>", variant));
}

}  // namespace profd::bench
