#include "server/runtime/log.h"

#include <cstdlib>
#include <mutex>
#include <optional>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "server/feature/escape.h"
#include "server/runtime/repeats.h"

namespace profd {
namespace {

// One line of the log has one line break, whatever names and paths are in it.
void write_line(spdlog::level::level_enum level, std::string_view text) {
  static std::mutex mutex;  // guards the next; both are the process's, as the logger is
  static Repeats repeats;
  if (!spdlog::should_log(level)) return;
  std::optional<std::string> line;
  {
    const std::lock_guard lock(mutex);
    line = repeats.next(text);
  }
  if (line) spdlog::log(level, "{}", sanitize_text(*line));
}

}  // namespace

Result<void> start_logging(const std::string& file) {
  spdlog::sink_ptr sink;
  try {
    if (file.empty())
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
  } catch (const spdlog::spdlog_ex& exception) {
    return fail(ErrorCode::io, file + ": " + exception.what());
  }
  auto logger = std::make_shared<spdlog::logger>("profd", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  logger->flush_on(spdlog::level::info);
  const char* wanted = std::getenv("PROFD_LOG");
  logger->set_level(wanted != nullptr ? spdlog::level::from_str(wanted)
                    : file.empty()    ? spdlog::level::warn
                                      : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

void log_error(std::string_view text) {
  write_line(spdlog::level::err, text);
}

void log_warning(std::string_view text) {
  write_line(spdlog::level::warn, text);
}

void log_info(std::string_view text) {
  write_line(spdlog::level::info, text);
}

}  // namespace profd
