// What the command line takes, as data: completions and the manual page are written from the one declaration
// of the commands.
#pragma once

#include <string>
#include <vector>

namespace profd {

struct DeclaredOption {
  std::vector<std::string> names;    // with their dashes; of a positional argument its one name
  std::string value;                 // what stands for its value in help; "" takes none
  std::vector<std::string> choices;  // all values there are; empty: any
  std::string description;
  bool is_positional = false;
  bool is_repeatable = false;
  bool is_file = false;  // a value of it is a file or a folder
};

struct DeclaredCommand {
  std::string name;  // "" of the program itself
  std::string description;
  std::vector<DeclaredOption> options;  // in the order of the help
  std::string footer;                   // examples
};

// The program itself, then the commands in the order of the help.
std::vector<DeclaredCommand> declared_commands();

}  // namespace profd
