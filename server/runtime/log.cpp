#include "server/runtime/log.h"

#include <cstdlib>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace profd {

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
  spdlog::error("{}", text);
}

void log_warning(std::string_view text) {
  spdlog::warn("{}", text);
}

void log_info(std::string_view text) {
  spdlog::info("{}", text);
}

}  // namespace profd
