/* Functions that have lost their probes and in which no thread is any more: their probes need not even call
   the agent. Private to the probes; on the agent's thread, but for quiet_forget. */
#ifndef PROFD_LIVE_QUIET_H
#define PROFD_LIVE_QUIET_H

#include <stdint.h>

/* A stream begins or has ended: no function is quiet. */
void quiet_none(void);
/* Which methods are demoted has changed. */
void quiet_demoted(void);
/* What has become quiet since. A method keeps its probe until no thread is in it, so that its end is seen; it
   is not entered anew. */
void quiet_round(void);
/* The code of a method is no longer loaded. On any thread. */
void quiet_forget(uint32_t id, uintptr_t address);
/* In a child that fork made. */
void quiet_forked(void);

#endif
