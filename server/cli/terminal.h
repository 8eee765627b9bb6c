// What the command line knows of the terminal: whether there is one, how wide, and with what colours.
#pragma once

#include <string>
#include <string_view>

namespace profd {

enum class ColorMode { automatic, always, never };

enum class Colors { none, c256, truecolor };

struct Terminal {
  bool is_terminal = false;
  Colors colors = Colors::none;
  int columns = 80;
  int rows = 24;

  std::string bold(std::string_view text) const { return sgr("1", text); }
  std::string dim(std::string_view text) const { return sgr("2", text); }
  std::string heat(std::string_view text, double share) const;  // 0..1, one hue
  // What became more and less: orange and blue, which colour-blind people tell apart.
  std::string more(std::string_view text) const;
  std::string less(std::string_view text) const;
  std::string warning(std::string_view text) const { return sgr("33", text); }
  std::string failure(std::string_view text) const { return sgr("31;1", text); }
  std::string success(std::string_view text) const { return sgr("32", text); }

 private:
  std::string sgr(std::string_view codes, std::string_view text) const;
};

// `fd` is 1 or 2. Respects NO_COLOR, CLICOLOR_FORCE, TERM=dumb and COLUMNS. Without a terminal: 100 columns.
Terminal make_terminal(int fd, ColorMode mode);

// Writes everything. Returns 0, or the errno of what failed (EPIPE when the reader went away).
int write_all(int fd, std::string_view text);

}  // namespace profd
