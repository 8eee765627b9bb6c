/* Methods and their ids. Private to the agents. */
#ifndef PROFD_LIVE_METHODS_H
#define PROFD_LIVE_METHODS_H

#include <stdint.h>

struct live_agent;
struct wire;

/* A new id for a method, 0 when there are too many or no memory is left. May be called from any thread. The
   texts are copied; NULL is the empty one. */
uint32_t live_method(const char* package, const char* class_name, const char* method, const char* signature,
                     const char* file, uint32_t line);
/* The same for machine code: the agent's thread finds its module. Allocates nothing. */
uint32_t live_code(uintptr_t address);
/* Of a method of machine code; 0 for others. */
uintptr_t live_address_of(uint32_t id);

/* On the agent's thread. A stream begins: nothing has been told. */
void live_methods_anew(void);
/* Tells the methods that came since, each once. */
void live_methods_tell(const struct live_agent* agent, struct wire* out);
/* The package and class of a method with texts, NULL for others: what filters look at. */
const char* live_package_of(uint32_t id);
uint32_t live_method_count(void);

#endif
