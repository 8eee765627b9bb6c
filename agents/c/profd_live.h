/* Live profiles of C and C++ programs that are built with -finstrument-functions: what their functions do goes to profd as
   it happens. PROFD_LIVE says where to; a program without it runs as before. Nothing has to be called: these are extras. */
#ifndef PROFD_LIVE_H
#define PROFD_LIVE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A mark on the time line, at most 1,024 bytes of UTF-8 text. Costs next to nothing while nobody looks. */
void profd_live_mark(const char *text);

/* Begins as if PROFD_LIVE had been `target` (unix:PATH, tcp:127.0.0.1:PORT, file:PATH) at the start; token_file is for
   tcp, else NULL. 0, or -1 when an agent is at work already or the target is none of these (a line on stderr says so). */
int profd_live_start(const char *target, const char *token_file);

/* Ends the session in order, waiting at most a second for what is unsent. Another may be started afterwards. */
void profd_live_stop(void);

#ifdef __cplusplus
}
#endif

#endif
