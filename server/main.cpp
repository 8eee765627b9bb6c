#include "server/cli/command.h"

int main(int argc, char** argv) {
  return profd::run_command_line(argc, argv);
}
