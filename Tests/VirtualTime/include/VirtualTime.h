/* A world without a kernel's time, for tests: on the thread that is in it, clock_gettime(2) tells the time that the test has
 * made it, and the timers and deferred calls that are added to sd-event come due by that time, and only when the test says.
 * Every other thread, and every other source, is the system's. */
#ifndef VIRTUAL_TIME_H
#define VIRTUAL_TIME_H
#include <stdbool.h>
#include <stdint.h>

/* Enters it, at so many nanoseconds of CLOCK_MONOTONIC. */
void virtual_time_enter(int64_t nanoseconds);
/* Leaves it. */
void virtual_time_leave(void);
/* Moves the clock; backward is not possible. */
void virtual_time_set(int64_t nanoseconds);
/* When the next call is due: an instant that has passed means now, -1: never. */
int64_t virtual_time_next(void);
/* Makes the call that is due first, as sd-event chooses: of those due by now the most urgent, of these the one that came
 * due first. False: none is due. */
bool virtual_time_dispatch(void);
/* Sources that there are. */
int virtual_time_sources(void);
#endif
