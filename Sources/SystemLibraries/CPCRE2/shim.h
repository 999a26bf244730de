/* Patterns of bytes; an option makes them match UTF-8 characters. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
