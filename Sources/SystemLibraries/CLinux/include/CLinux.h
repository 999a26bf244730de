/* Parts of Linux's headers that Swift cannot import: macros, variadic calls, ancillary data, GNU extensions. No own logic.
   The includes are plain types only: with _GNU_SOURCE, the C library's types would differ from those of Swift's Glibc. */
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/types.h>
/* The layout of the clock page and its reader. */
#include "../../../../etc/include/nowplayingd/clock.h"

/* The number of the calling thread. */
int32_t linux_thread_number(void);

/* open(2), openat(2), openat2(2) with `resolve` as in <linux/openat2.h>. */
#define LINUX_RESOLVE_NO_MAGICLINKS 0x02
#define LINUX_RESOLVE_BENEATH 0x08
#define LINUX_O_PATH 010000000
int linux_open(const char *path, int flags, mode_t mode);
int linux_openat(int folder, const char *path, int flags, mode_t mode);
int linux_openat2(int folder, const char *path, uint64_t flags, uint64_t resolve);

#define LINUX_MAXIMUM_DESCRIPTORS 16
/* recvmsg(2), non-blocking, with up to 16 descriptors (close-on-exec). Sets *count to the number of descriptors, and
   *truncated to 1 if some were lost. */
ssize_t linux_receive(int socket, void *bytes, size_t length, int *descriptors, int *count, int *truncated);
/* sendmsg(2) with descriptors; no SIGPIPE. */
ssize_t linux_send(int socket, const void *bytes, size_t length, const int *descriptors, int count);
/* SO_PEERCRED; -1 and errno. */
int linux_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid);
/* The user whose socket is at the other end of a TCP connection within this machine (sock_diag(7)); -1 and errno:
   EADDRNOTAVAIL: an end is not a loopback address; ENOENT: the client has closed its socket. */
int linux_loopback_peer(int connection, uid_t *uid);
/* SO_PEERGROUPS; -1 and errno (ERANGE: *size is the required number of bytes). */
int linux_peer_groups(int socket, gid_t *groups, uint32_t *size);
/* TIOCGWINSZ; -1 and errno. */
int linux_window_size(int descriptor, unsigned short *rows, unsigned short *columns);
/* accept4(2): close-on-exec, non-blocking. */
int linux_accept(int socket);
/* pthread_setname_np(3) of the calling thread, at most 15 bytes. */
int linux_name_thread(const char *name);
/* adjtimex(2): 1 if a program disciplines the wall clock (STA_UNSYNC is clear). */
int linux_clock_is_disciplined(void);
/* fcntl(2) F_GETFL. */
int linux_flags(int descriptor);
/* fstatfs(2): type of the file system (f_type); 0: unknown. */
uint32_t linux_file_system(int descriptor);
/* setxattr(2). */
int linux_set_attribute(const char *path, const char *name, const void *value, size_t size);
/* socket(2): a stream socket of the Unix domain, close-on-exec, non-blocking. */
int linux_socket(void);
/* memfd_create(2), close-on-exec. */
int linux_memory_file(const char *name);
/* fallocate(2): frees the blocks of a part of a file, which then reads as zeros. */
int linux_punch_hole(int descriptor, int64_t offset, int64_t length);
/* memfd_create(2), close-on-exec. linux_seal makes the file immutable (F_ADD_SEALS). */
int linux_sealable_file(const char *name);
int linux_seal(int file);
/* posix_spawn_file_actions_addchdir_np(3). */
int linux_spawn_begin_in(void *actions, const char *folder);
/* pipe2(2), both ends close-on-exec. */
int linux_pipe(int ends[2]);
/* socket(2): a netlink socket that becomes readable when a link, an address or a route changes. -1 and errno. */
int linux_network_changes(void);
/* fcntl(2) F_SETPIPE_SZ: capacity of a pipe in bytes. */
int linux_set_pipe_size(int end, int bytes);
/* madvise(2) MADV_DONTNEED over the read-only segments of the program's own file, except the parts that the linker
   relocated. It needs dl_iterate_phdr(3), which Swift does not import. */
void linux_give_back_program_pages(void);
/* The same for the library that contains this address. */
void linux_give_back_library_pages(const void *address);
/* linux_give_back_program_pages as the handler of a deferred source of sd-event(3): nothing of the program runs between it and
   the wait of the loop. Returns 0. */
struct sd_event_source;
int linux_give_back_before_wait(struct sd_event_source *source, void *context);
/* Waits until the eventfd or the timerfd has a count, and takes it. `gives_back`: linux_give_back_program_pages first. Returns 1 if
   the timer had expired, else 0. `timer` below 0: the eventfd alone. */
int linux_await_count(int event, int timer, int gives_back);

/* shutdown(2) of both directions. Two system modules export SHUT_RDWR, so Swift may see neither. */
void linux_shut_down(int socket);

/* open(2) with O_TMPFILE: a file without a name in this folder, for reading and writing. Negative: errno has the reason. */
int linux_open_unnamed(const char *folder);

/* Multiplies frames of 1 or 2 channels of 16 bit and adds dither, by the definition in SampleGain of AudioCore. The factor of
   frame i is `start` + `step` * i; `number` is the number of the first sample. Returns the number of processed frames; the
   caller processes the others. */
size_t linux_gain_int16(
    const int16_t *source, int16_t *target, size_t frames, int channels, double start, double step, uint64_t number);
/* The same for samples of 24 bit in 3 bytes, of 32 bit, and for floats of full scale 1, without dither. */
size_t linux_gain_int24(const void *source, void *target, size_t frames, int channels, double start, double step);
size_t linux_gain_int32(const int32_t *source, int32_t *target, size_t frames, int channels, double start, double step);
size_t linux_gain_float(const float *source, float *target, size_t frames, int channels, double start, double step);

/* malloc_trim(3), which Swift does not import. */
void linux_give_back_heap(void);
/* mallopt(3) M_ARENA_MAX: maximum number of heaps for all threads. */
void linux_limit_heaps(int count);
/* pidfd_open(2), close-on-exec. */
int linux_pidfd_open(pid_t process);
/* posix_spawn_file_actions_addclosefrom_np(3), of a posix_spawn_file_actions_t. */
int linux_close_from(void *actions, int first);
/* socketpair(2): two connected stream sockets of the Unix domain, close-on-exec. */
int linux_socket_pair(int ends[2]);
/* prlimit(2), of struct rlimit. */
int linux_prlimit(pid_t process, int resource, const void *new_limit, void *old_limit);
/* prctl(2): the process is killed when the thread that started it ends; not dumpable; no new privileges. -1 and errno. */
int linux_harden_process(void);
/* fstat(2) by its own system call. The C library uses a call with an empty path, which a sandbox cannot distinguish from a
   call with a path. `status`: a struct stat. */
int linux_status(int descriptor, void *status);
/* setpriority(2) to the lowest, and ioprio_set(2) to idle, for a process of one thread; 0: this process. Best effort. */
void linux_lower_priority(pid_t process);
/* Confines this process (seccomp): it can read open files and its sockets, compute and end. It cannot open files, start
   processes, or run memory that it wrote. 0; -1 and errno: the kernel or this machine lacks the feature. */
int linux_confine_reader(void);
/* Confines this process (linux/landlock.h): it can open only these files and folders, with their contents, and only for
   reading. 0; 1: the kernel lacks Landlock; -1 and errno. */
int linux_landlock_read_only(const char *const *paths, int count);
/* Confines this process and its children (Landlock, seccomp): they can read and run these files and folders, with their
   contents, and write only to open files and /dev/null. They have no sockets, signal no process, and stay in their process
   group. 0; -1 and errno: the kernel or this machine lacks a feature. */
int linux_confine_program(const char *const *paths, int count);
/* Confines this thread and the threads that it starts (Landlock, seccomp): they can read these files and folders, with their
   contents, write only to open files, and connect to sockets. They run no program, take no connections and signal no process.
   0; -1 and errno: the kernel or this machine lacks a feature. */
int linux_confine_client(const char *const *paths, int count);
/* 1 if the kernel has Landlock, else 0. */
int linux_has_landlock(void);
/* From now on, a death of the process by SIGSEGV, SIGILL, SIGBUS, SIGABRT, SIGTRAP or SIGFPE first appends one byte to the
   file of this name in the folder (a descriptor; -1: to no file). Then the signal has its earlier action: core dump, exit
   status. The name has at most 63 bytes. 0; -1 and errno. */
int linux_note_faults(int folder, const char *name);
/* Ends the notes: deaths from this instant on (nanoseconds of CLOCK_MONOTONIC) are not noted. */
void linux_note_faults_until(int64_t time);
/* Gives this thread a stack for the handler, so that the handler also notes a stack overflow. */
void linux_use_fault_stack(void);
/* A clock page (nowplayingd-clock(7)) that only this mapping can change; `descriptor`: the file for readers. NULL and errno. */
void *linux_clock_page_make(int *descriptor);
/* A read-only mapping of the page of a descriptor. NULL and errno. */
const void *linux_clock_page_map(int descriptor);
void linux_clock_page_unmap(const void *page);
/* Writes all fields, and sets the sequence and the checksum. For one thread at a time. */
void linux_clock_page_write(void *page, struct nowplayingd_clock *clock);
/* futex(2) FUTEX_WAKE of all threads that wait for a change. Thousands of them take milliseconds. */
void linux_clock_page_wake(void *page);
