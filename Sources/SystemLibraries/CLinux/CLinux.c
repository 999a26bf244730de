#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <pthread.h>
#include <fcntl.h>
#include <link.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

int32_t linux_thread_number(void) { return gettid(); }

int linux_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
int linux_openat(int folder, const char *path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}

/* openat2(2); `resolve` as in <linux/openat2.h>. */
int linux_openat2(int folder, const char *path, uint64_t flags, uint64_t resolve) {
    struct { uint64_t flags, mode, resolve; } how = {flags, 0, resolve};
    return (int)syscall(437, folder, path, &how, sizeof how);
}


/* recvmsg(2) with up to 16 descriptors (close-on-exec). */
ssize_t linux_receive(int socket, void *bytes, size_t length, int *descriptors, int *count, int *truncated) {
    union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int) * LINUX_MAXIMUM_DESCRIPTORS)]; } control;
    struct iovec part = {bytes, length};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    *count = 0;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0) return got;
    *truncated = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < n && *count < LINUX_MAXIMUM_DESCRIPTORS; i++)
            memcpy(&descriptors[(*count)++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    return got;
}

/* fstatfs(2) */
uint32_t linux_file_system(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/* sendmsg(2) with descriptors; flags MSG_NOSIGNAL. */
ssize_t linux_send(int socket, const void *bytes, size_t length, const int *descriptors, int count) {
    union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int) * LINUX_MAXIMUM_DESCRIPTORS)]; } control;
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), descriptors, sizeof(int) * count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* SO_PEERCRED */
int linux_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred who;
    socklen_t size = sizeof who;
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size);
    *pid = who.pid;
    *uid = who.uid;
    *gid = who.gid;
    return result;
}

/* SO_PEERGROUPS: returns the number of groups or -1 (ERANGE: *size is the required number of bytes). */
int linux_peer_groups(int socket, gid_t *groups, uint32_t *size) {
    return getsockopt(socket, SOL_SOCKET, 59, groups, size);
}

int linux_window_size(int descriptor, unsigned short *rows, unsigned short *columns) {
    struct winsize size;
    int result = ioctl(descriptor, TIOCGWINSZ, &size);
    *rows = size.ws_row;
    *columns = size.ws_col;
    return result;
}

int linux_name_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }
int linux_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
int linux_clock_is_disciplined(void) {
    struct timex state = {0};
    return adjtimex(&state) >= 0 && !(state.status & STA_UNSYNC);
}
int linux_flags(int descriptor) { return fcntl(descriptor, F_GETFL); }
int linux_set_attribute(const char *path, const char *name, const void *value, size_t size) {
    return setxattr(path, name, value, size, 0);
}
int linux_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }
int linux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
int linux_punch_hole(int descriptor, int64_t offset, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}
int linux_sealable_file(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }
int linux_seal(int file) { return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL); }
int linux_spawn_begin_in(void *actions, const char *folder) { return posix_spawn_file_actions_addchdir_np(actions, folder); }
int linux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
int linux_network_changes(void) {
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE,
    };
    int made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (made >= 0 && bind(made, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    return made;
}
int linux_set_pipe_size(int end, int bytes) { return fcntl(end, F_SETPIPE_SZ, bytes); }

int linux_open_unnamed(const char *folder) { return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }
void linux_give_back_heap(void) { malloc_trim(0); }
void linux_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

int linux_pidfd_open(pid_t process) { return (int)syscall(434, process, 0); }
int linux_close_from(void *actions, int first) { return posix_spawn_file_actions_addclosefrom_np(actions, first); }
int linux_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int linux_prlimit(pid_t process, int resource, const void *new_limit, void *old_limit) {
    return prlimit(process, resource, new_limit, old_limit);
}

int linux_harden_process(void) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return -1;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int linux_status(int descriptor, void *status) {
#if defined(__LP64__)
    return (int)syscall(SYS_fstat, descriptor, status);
#else
    return fstat(descriptor, status);
#endif
}

void linux_lower_priority(pid_t process) {
    setpriority(PRIO_PROCESS, (id_t)process, 19);
    /* IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE */
    syscall(SYS_ioprio_set, 1, process, 3 << 13);
}

int linux_has_landlock(void) { return syscall(444, (void *)0, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0; }

int linux_landlock_read_only(const char *const *paths, int count) {
    /* All rights of the first version of Landlock. */
    struct landlock_ruleset_attr wanted = {.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    int rules = (int)syscall(444, &wanted, sizeof wanted, 0);
    if (rules < 0) return errno == ENOSYS || errno == EOPNOTSUPP ? 1 : -1;
    for (int i = 0; i < count; i++) {
        struct stat status;
        struct landlock_path_beneath_attr place = {.parent_fd = open(paths[i], O_PATH | O_CLOEXEC)};
        if (place.parent_fd < 0) continue;
        place.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
        if (fstat(place.parent_fd, &status) == 0 && S_ISDIR(status.st_mode))
            place.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
        syscall(445, rules, LANDLOCK_RULE_PATH_BENEATH, &place, 0);
        close(place.parent_fd);
    }
    int result = (int)syscall(446, rules, 0);
    close(rules);
    return result;
}

void linux_shut_down(int socket)
{
    shutdown(socket, SHUT_RDWR);
}
