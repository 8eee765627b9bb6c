/* Files of machine code that are loaded. On the agent's thread, but for modules_program. */
#ifndef PROFD_LIVE_MODULES_H
#define PROFD_LIVE_MODULES_H

#include <stdint.h>

struct wire;

/* The base name of the program. */
const char *modules_program(void);
/* Tells those that are new, or all. */
void modules_tell(struct wire *out, int anew);
/* The module of an address, and where in its file it is; 0 when no module has it. */
int modules_find(uintptr_t address, uint32_t *module, uint64_t *within);

#endif
