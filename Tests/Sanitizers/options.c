// Options of every program that is built with a sanitizer, in any environment of a test: OPTIONS, which Scripts/sanitize
// gives. Linked into each of them.
const char *__tsan_default_options(void) { return OPTIONS; }
const char *__asan_default_options(void) { return OPTIONS; }
