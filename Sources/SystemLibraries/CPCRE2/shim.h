/* Patterns of bytes; the characters of UTF-8 are told apart by an option. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
