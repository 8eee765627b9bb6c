/* Probes of programs that clang has built with -fxray-instrument. Private to the agent.

   XRay's runtime is a part of the program and hides its functions from libraries. What is linked with the
   program (xray_program.c) tells them to the agent, which may be a library. */
#ifndef PROFD_LIVE_XRAY_H
#define PROFD_LIVE_XRAY_H

#include <stddef.h>
#include <stdint.h>

/* As in xray/xray_interface.h, whose enumerations are ints here. Functions have numbers from 1. */
struct profd_live_xray {
  size_t bytes; /* Of this structure; more may come at its end. */
  int (*set_handler)(void (*handler)(int32_t function, int kind));
  int (*remove_handler)(void);
  int (*patch)(void);
  int (*unpatch)(void);
  int (*patch_function)(int32_t function);
  int (*unpatch_function)(int32_t function);
  uintptr_t (*function_address)(int32_t function);
  size_t (*max_function_id)(void);
};

/* Of the program, before its main; `runtime` lives as long as the program. */
void profd_live_use_xray(const struct profd_live_xray* runtime);

/* On the agent's thread: a stream begins or has ended; a method gets back its probe, or loses it. Nothing is
   done where the program has no XRay. */
void xray_running(int on);
void xray_patch(uint32_t id, int on);
/* In a child that fork made. */
void xray_forked(void);

#endif
