/* Functions of a shared library. The first call of any of them opens the library. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A library by its name with version. */
struct late_library {
    const char *name;
    pthread_once_t once;
    void *handle;
    void (*open)(void);
};

/* Opens the library once and returns its handle; NULL: it is not there. Any thread; reads files. */
void *late_library(struct late_library *library);
/* A function of the library; NULL: the library or the function is not there. */
void *late_function(struct late_library *library, const char *name);

/* LIBRARY is a `struct late_library` in the file that uses CALL. */
#define LATE_LIBRARY(file)                                                                                               \
    static void open_library(void);                                                                                      \
    static struct late_library library = {file, PTHREAD_ONCE_INIT, NULL, open_library};                                  \
    static void open_library(void) { library.handle = late_open(library.name); }

/* dlopen, without exporting the library's names. */
void *late_open(const char *name);

/* Defines a function of the library. The library's header is included, so the compiler checks the types. The function is
   hidden, so other libraries call the real one. It returns zero if the library is not there. A thread that finds the pointer
   of another thread also sees the library as that thread opened it. */
#define CALL(type, name, parameters, arguments)                                                                         \
    __attribute__((visibility("hidden"))) type name parameters {                                                         \
        static __typeof__(&name) known;                                                                                  \
        __typeof__(&name) function = __atomic_load_n(&known, __ATOMIC_ACQUIRE);                                          \
        if (!function) {                                                                                                 \
            function = (__typeof__(&name))late_function(&library, #name);                                                \
            if (!function) return (type)0;                                                                               \
            __atomic_store_n(&known, function, __ATOMIC_RELEASE);                                                        \
        }                                                                                                                \
        return function arguments;                                                                                       \
    }
