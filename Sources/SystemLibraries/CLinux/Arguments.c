/* The arguments of the process, for CommandLine.arguments of Swift. The runtime's own functions of these names come with a
   constructor that reads and parses /proc/self/maps at each start, to find the arguments that every constructor is given. */
#include "CLinux.h"

static int argument_count;
static char **arguments;

__attribute__((constructor)) static void keep_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

/* Weak: a runtime that needs its own file of these functions for another function links as before. */
__attribute__((weak)) char **_swift_stdlib_getUnsafeArgvArgc(int *count);
__attribute__((weak)) void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count);

char **_swift_stdlib_getUnsafeArgvArgc(int *count) {
    *count = argument_count;
    return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **values, int count) { keep_arguments(count, values); }
