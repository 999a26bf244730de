// What every program that is built with a sanitizer is told, whatever environment a test starts it in: OPTIONS, which
// Scripts/sanitize gives. Linked into each of them.
const char *__tsan_default_options(void) { return OPTIONS; }
const char *__asan_default_options(void) { return OPTIONS; }
