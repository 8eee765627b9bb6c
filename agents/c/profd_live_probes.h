/* The probes of -finstrument-functions as a part of the program: one that is off is a load and a branch that
   is not taken, in place of a call; one of a function that has lost its probe is a comparison more. For the
   compiler's option -include, which profd-live.pc has; without it the library's own probes are called. */
#ifndef PROFD_LIVE_PROBES_H
#define PROFD_LIVE_PROBES_H

#ifdef __cplusplus
extern "C" {
#endif

extern int profd_live_on;
extern void* profd_live_quiet[4096];
void profd_live_enters(void* function) __attribute__((cold));
void profd_live_exits(void* function, void* site) __attribute__((cold));

#define PROFD_LIVE_HAS_PROBE(function)                                                               \
  (__builtin_expect(__atomic_load_n(&profd_live_on, __ATOMIC_RELAXED) != 0, 0) &&                    \
   __atomic_load_n(&profd_live_quiet[(__UINTPTR_TYPE__)(function) >> 4 & 4095], __ATOMIC_RELAXED) != \
       (function))
#define PROFD_LIVE_PROBE \
  extern __inline__ __attribute__((gnu_inline, always_inline, no_instrument_function)) void
PROFD_LIVE_PROBE __cyg_profile_func_enter(void* function, void* site) {
  (void)site;
  if (PROFD_LIVE_HAS_PROBE(function)) profd_live_enters(function);
}
PROFD_LIVE_PROBE __cyg_profile_func_exit(void* function, void* site) {
  if (PROFD_LIVE_HAS_PROBE(function)) profd_live_exits(function, site);
}
#undef PROFD_LIVE_PROBE
#undef PROFD_LIVE_HAS_PROBE

#ifdef __cplusplus
}
#endif

#endif
