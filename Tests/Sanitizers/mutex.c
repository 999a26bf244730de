// Reports operations of a contended Mutex of Swift's standard library, which the thread sanitizer cannot see. Inlined atomic
// instructions lock and unlock an uncontended Mutex, and the sanitizer sees them. If threads contend, the kernel passes the
// lock on (futex(2), FUTEX_LOCK_PI and FUTEX_UNLOCK_PI) in functions of libswiftSynchronization, which is not built with the
// sanitizer. The linker (--wrap) puts the functions below in front of these, only for `make sanitize`.
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define NAMED(prefix, name) __asm__(prefix "$s15Synchronization12_MutexHandleV" name)

// _MutexHandle._lockSlow(_: UInt32), _tryLockSlow() -> Bool, _unlockSlow()
SWIFT void real_lock(uint32_t thread, SELF) NAMED("__real_", "9_lockSlowyys6UInt32VF");
SWIFT bool real_try_lock(SELF) NAMED("__real_", "12_tryLockSlowSbyF");
SWIFT void real_unlock(SELF) NAMED("__real_", "11_unlockSlowyyF");
SWIFT void lock(uint32_t thread, SELF) NAMED("__wrap_", "9_lockSlowyys6UInt32VF");
SWIFT bool try_lock(SELF) NAMED("__wrap_", "12_tryLockSlowSbyF");
SWIFT void unlock(SELF) NAMED("__wrap_", "11_unlockSlowyyF");

SWIFT void lock(uint32_t thread, SELF) {
    real_lock(thread, handle);
    __tsan_acquire(handle);
}

SWIFT bool try_lock(SELF) {
    bool is_taken = real_try_lock(handle);
    if (is_taken) __tsan_acquire(handle);
    return is_taken;
}

SWIFT void unlock(SELF) {
    __tsan_release(handle);
    real_unlock(handle);
}
