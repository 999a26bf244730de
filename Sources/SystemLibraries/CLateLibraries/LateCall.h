/* Functions of a shared library that is opened at the first call of any of them. */
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

/* dlopen, without the library's names for anybody else. */
void *late_open(const char *name);

/* Defines a function of the library: its header is included, so the compiler compares the types. Hidden: other libraries that
   call a function of this name get the real one. Zero if the library is not there. */
#define CALL(type, name, parameters, arguments)                                                                         \
    __attribute__((visibility("hidden"))) type name parameters {                                                         \
        static __typeof__(&name) known;                                                                                  \
        __typeof__(&name) function = __atomic_load_n(&known, __ATOMIC_RELAXED);                                          \
        if (!function) {                                                                                                 \
            function = (__typeof__(&name))late_function(&library, #name);                                                \
            if (!function) return (type)0;                                                                               \
            __atomic_store_n(&known, function, __ATOMIC_RELAXED);                                                        \
        }                                                                                                                \
        return function arguments;                                                                                       \
    }
