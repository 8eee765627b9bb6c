#include "server/cli/command.h"
#include "server/platform/memory.h"
#include "server/platform/process.h"

int main(int argc, char** argv) {
  profd::open_standard_descriptors();
  profd::give_freed_memory_back();
  return profd::run_command_line(argc, argv);
}
