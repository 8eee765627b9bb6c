#include "server/cli/terminal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace profd {
namespace {

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

int number_or(std::string_view text, int fallback) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0 ? number : fallback;
}

bool wants_color(bool is_terminal, ColorMode mode) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  if (!environment("NO_COLOR").empty()) return false;
  if (const std::string_view force = environment("CLICOLOR_FORCE"); !force.empty() && force != "0")
    return true;
  return is_terminal && environment("TERM") != "dumb";
}

}  // namespace

std::string Terminal::sgr(std::string_view codes, std::string_view text) const {
  if (colors == Colors::none || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes, text);
}

std::string Terminal::heat(std::string_view text, double share) const {
  const double strength = std::sqrt(std::clamp(share, 0.0, 1.0));
  if (colors == Colors::truecolor) {
    // From the muted to the strong end of one orange, readable on dark and on light.
    const int green = static_cast<int>(std::lround(150 - 62 * strength));
    const int blue = static_cast<int>(std::lround(110 - 90 * strength));
    const int red = static_cast<int>(std::lround(170 + 55 * strength));
    return sgr(fmt::format("38;2;{};{};{}", red, green, blue), text);
  }
  return sgr(strength > 0.5 ? "38;5;166" : strength > 0.22 ? "38;5;172" : "38;5;137", text);
}

std::string Terminal::more(std::string_view text) const {
  return sgr(colors == Colors::truecolor ? "38;2;214;108;20" : "38;5;166", text);
}

std::string Terminal::less(std::string_view text) const {
  return sgr(colors == Colors::truecolor ? "38;2;48;124;196" : "38;5;32", text);
}

Terminal make_terminal(int fd, ColorMode mode) {
  Terminal out;
  out.is_terminal = ::isatty(fd) == 1;
  if (wants_color(out.is_terminal, mode)) {
    const std::string_view kind = environment("COLORTERM");
    out.colors = kind == "truecolor" || kind == "24bit" ? Colors::truecolor : Colors::c256;
  }
  out.columns = 100;
  winsize size{};
  if (out.is_terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    out.columns = size.ws_col;
    out.rows = size.ws_row;
  } else {
    out.columns = number_or(environment("COLUMNS"), 100);
  }
  out.columns = std::clamp(out.columns, 20, 1000);
  return out;
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace profd
