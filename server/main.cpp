#include "server/cli/command.h"
#include "server/platform/memory.h"

int main(int argc, char** argv) {
  profd::give_freed_memory_back();
  return profd::run_command_line(argc, argv);
}
