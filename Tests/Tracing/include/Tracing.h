/* Stops another process at a chosen place, for tests, as a debugger does. */
#ifndef TRACING_H
#define TRACING_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Stops a child process whose main thread has just made a word of shared memory odd: the first one of this file, which is
 * mapped here at `word`. It waits for a write by a register of the processor where it can, else it runs the thread by single
 * instructions, at most so many. The process is stopped then, as by SIGSTOP. False: the word was not made odd, or the process
 * is not to be traced. One thread calls it and waits for the child. */
bool tracing_stop_at_odd(pid_t child, int file, const void *word, int64_t instructions);
#endif
