/* Stops another process at a chosen place, for tests, as a debugger does. */
#ifndef TRACING_H
#define TRACING_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs one thread of a child process by single instructions, until this word of memory that both share is odd. The process
 * is stopped then (as by SIGSTOP), in this state. False: the word was not odd within so many instructions, or the thread is
 * not to be traced; the process goes on then. The word may be read by any thread of the caller. */
bool tracing_stop_at_odd(pid_t thread, const void *word, int64_t instructions);
#endif
