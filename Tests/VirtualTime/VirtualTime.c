/* See VirtualTime.h. The program's own definitions go before those of the C library and of libsystemd. */
#define _GNU_SOURCE
#include "VirtualTime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

struct source {
    bool is_used, is_timer;
    int enabled;
    int64_t priority;
    uint64_t due;
    /* The turn in which it came due; 0: it is not. */
    uint64_t turn;
    sd_event_time_handler_t timer;
    sd_event_handler_t deferred;
    void *context;
};

/* Each thread has a time of its own, with sources of its own: histories and fuzz targets run side by side. */
enum { count = 4096 };
static _Thread_local struct source *sources;
static _Thread_local bool is_inside;
static _Thread_local int64_t present;
static _Thread_local uint64_t turns;
/* The sources before this index were used at some time. */
static _Thread_local int used;

static struct source *ours(const sd_event_source *source) {
    struct source *found = (struct source *)source;
    return sources && found >= sources && found < sources + count ? found : NULL;
}

#define REAL(name) \
    static void *known; \
    if (!__atomic_load_n(&known, __ATOMIC_RELAXED)) \
        __atomic_store_n(&known, dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED); \
    __typeof__(name) *real = (__typeof__(name) *)__atomic_load_n(&known, __ATOMIC_RELAXED)

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (is_inside && clock == CLOCK_MONOTONIC) {
        *time = (struct timespec){.tv_sec = present / 1000000000, .tv_nsec = present % 1000000000};
        return 0;
    }
    REAL(clock_gettime);
    return real ? real(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}

static struct source *make(sd_event_source **result, void *context, int enabled) {
    int place = 0;
    while (place < count && sources[place].is_used) place++;
    if (place == count) abort();
    if (place >= used) used = place + 1;
    sources[place] = (struct source){.is_used = true, .enabled = enabled, .context = context};
    if (result) *result = (sd_event_source *)&sources[place];
    return &sources[place];
}

int sd_event_add_time(
    sd_event *event, sd_event_source **result, clockid_t clock, uint64_t due, uint64_t accuracy,
    sd_event_time_handler_t handler, void *context) {
    REAL(sd_event_add_time);
    if (!is_inside) return real(event, result, clock, due, accuracy, handler, context);
    struct source *made = make(result, context, SD_EVENT_ONESHOT);
    made->is_timer = true;
    made->due = due;
    made->timer = handler;
    return 0;
}

int sd_event_add_defer(sd_event *event, sd_event_source **result, sd_event_handler_t handler, void *context) {
    REAL(sd_event_add_defer);
    if (!is_inside) return real(event, result, handler, context);
    struct source *made = make(result, context, SD_EVENT_ONESHOT);
    made->turn = ++turns;
    made->deferred = handler;
    return 0;
}

int sd_event_source_set_time(sd_event_source *source, uint64_t due) {
    REAL(sd_event_source_set_time);
    struct source *own = ours(source);
    if (!own) return real(source, due);
    own->due = due;
    own->turn = 0;
    return 0;
}

int sd_event_source_get_time(sd_event_source *source, uint64_t *due) {
    REAL(sd_event_source_get_time);
    struct source *own = ours(source);
    if (!own) return real(source, due);
    *due = own->due;
    return 0;
}

int sd_event_source_get_enabled(sd_event_source *source, int *enabled) {
    REAL(sd_event_source_get_enabled);
    struct source *own = ours(source);
    if (!own) return real(source, enabled);
    if (enabled) *enabled = own->enabled;
    return own->enabled != SD_EVENT_OFF;
}

int sd_event_source_set_enabled(sd_event_source *source, int enabled) {
    REAL(sd_event_source_set_enabled);
    struct source *own = ours(source);
    if (!own) return real(source, enabled);
    if (enabled == SD_EVENT_OFF) own->turn = 0;
    if (enabled != SD_EVENT_OFF && own->enabled == SD_EVENT_OFF && !own->is_timer) own->turn = ++turns;
    own->enabled = enabled;
    return 0;
}

int sd_event_source_set_priority(sd_event_source *source, int64_t priority) {
    REAL(sd_event_source_set_priority);
    struct source *own = ours(source);
    if (!own) return real(source, priority);
    own->priority = priority;
    return 0;
}

sd_event_source *sd_event_source_disable_unref(sd_event_source *source) {
    REAL(sd_event_source_disable_unref);
    struct source *own = ours(source);
    if (!own) return real(source);
    own->is_used = false;
    return NULL;
}

void virtual_time_enter(int64_t nanoseconds) {
    if (!sources) sources = calloc(count, sizeof *sources);
    if (!sources) abort();
    is_inside = true;
    present = nanoseconds;
}

void virtual_time_leave(void) { is_inside = false; }

void virtual_time_set(int64_t nanoseconds) {
    if (nanoseconds > present) present = nanoseconds;
}

int64_t virtual_time_next(void) {
    int64_t first = -1;
    for (int place = 0; place < used; place++) {
        struct source *source = &sources[place];
        if (!source->is_used || source->enabled == SD_EVENT_OFF) continue;
        int64_t due = source->is_timer ? (int64_t)source->due * 1000 : present;
        if (first < 0 || due < first) first = due;
    }
    return first;
}

bool virtual_time_dispatch(void) {
    struct source *next = NULL;
    turns++;
    for (int place = 0; place < used; place++) {
        struct source *source = &sources[place];
        if (!source->is_used || source->enabled == SD_EVENT_OFF) continue;
        if (source->is_timer && !source->turn && (int64_t)source->due * 1000 <= present) source->turn = turns;
        if (!source->turn) continue;
        bool is_sooner = next && source->priority == next->priority && source->turn < next->turn;
        if (!next || source->priority < next->priority || is_sooner) next = source;
    }
    if (!next) return false;
    if (next->enabled == SD_EVENT_ONESHOT) next->enabled = SD_EVENT_OFF;
    if (next->is_timer || next->enabled == SD_EVENT_OFF) next->turn = 0;
    if (next->is_timer) {
        next->timer((sd_event_source *)next, next->due, next->context);
    } else {
        next->deferred((sd_event_source *)next, next->context);
    }
    return true;
}

int virtual_time_sources(void) {
    int result = 0;
    for (int place = 0; place < used; place++) result += sources[place].is_used;
    return result;
}
