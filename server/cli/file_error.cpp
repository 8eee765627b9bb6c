#include "server/cli/file_error.h"

#include "server/feature/text.h"

namespace profd {

std::string file_error_text(std::string_view file, const Error& error) {
  std::string text;
  // Errors of the file itself begin with its name.
  const std::string name = std::string(file) + ": ";
  if (!error.message.starts_with(name)) text = name;
  text += error.message;
  if (!error.offset && error.where.empty()) return text;
  text += " (";
  if (error.offset) text += "at byte " + format_exact(*error.offset);
  for (std::size_t i = 0; i < error.where.size(); ++i) {
    text += i == 0 ? (error.offset ? ", in " : "in ") : " of ";
    text += error.where[i];
  }
  return text + ")";
}

std::string file_error_advice(const Error& error) {
  switch (error.code) {
    case ErrorCode::truncated:
      return "Record it again, or read what is there with --partial.";
    case ErrorCode::malformed:
      if (error.message.find("damaged") != std::string::npos)
        return "Copy it again from where it was recorded, or try --partial.";
      return error.message.find("empty") != std::string::npos
                 ? "Record it again, and let the profiler end before reading."
                 : "If another tool opens it, report it with `profd check --json FILE`.";
    case ErrorCode::unsupported:
      if (!error.format.empty())
        return "`profd formats " + error.format + "` tells what is read of this format.";
      return "If you know what it is, name it with --format; `profd formats` lists what is read.";
    case ErrorCode::not_found:
    case ErrorCode::limit:
    case ErrorCode::invalid:
    case ErrorCode::io:
    case ErrorCode::cancelled:
    case ErrorCode::internal:
      break;
  }
  return {};
}

}  // namespace profd
