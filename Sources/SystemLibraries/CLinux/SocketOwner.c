#define _GNU_SOURCE
#include "CLinux.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* States of a connection whose client can have its socket: a client that has ended its sending half still reads
   (net/tcp_states.h, which has no copy for programs). A listener at the client's port is another socket. */
enum { established = 1, fin_wait1 = 4, fin_wait2 = 5, close_wait = 8 };

static int can_have_socket(int state) {
    return state == established || state == fin_wait1 || state == fin_wait2 || state == close_wait;
}

struct end {
    int family;
    uint16_t port;
    uint32_t words[4];
};

/* One end of a connection. An IPv4 address in an IPv6 socket is an IPv4 address. */
static int read_end(const struct sockaddr_storage *address, struct end *end) {
    memset(end, 0, sizeof *end);
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        end->family = AF_INET;
        end->port = in->sin_port;
        end->words[0] = in->sin_addr.s_addr;
        return 0;
    }
    if (address->ss_family != AF_INET6) return -1;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
    end->port = in6->sin6_port;
    if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
        end->family = AF_INET;
        memcpy(end->words, in6->sin6_addr.s6_addr + 12, 4);
    } else {
        end->family = AF_INET6;
        memcpy(end->words, in6->sin6_addr.s6_addr, 16);
    }
    return 0;
}

static int is_loopback(const struct end *end) {
    if (end->family == AF_INET) return (ntohl(end->words[0]) >> 24) == 127;
    return memcmp(end->words, &in6addr_loopback, 16) == 0;
}

static int ask(int netlink, const struct end *client, const struct end *server, uid_t *uid) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question = {
        .header = {sizeof question, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0},
        .request = {
            .sdiag_family = (uint8_t)client->family,
            .sdiag_protocol = IPPROTO_TCP,
            .idiag_states = ~0u,
            .id = {.idiag_sport = client->port, .idiag_dport = server->port,
                   .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
        },
    };
    memcpy(question.request.id.idiag_src, client->words, 16);
    memcpy(question.request.id.idiag_dst, server->words, 16);
    if (send(netlink, &question, sizeof question, 0) != sizeof question) return -1;
    _Alignas(struct nlmsghdr) char buffer[4096];
    ssize_t length = recv(netlink, buffer, sizeof buffer, 0);
    if (length < 0) return -1;
    const struct nlmsghdr *answer = (const struct nlmsghdr *)buffer;
    if (!NLMSG_OK(answer, (size_t)length)) {
        errno = EBADMSG;
        return -1;
    }
    if (answer->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *failure = NLMSG_DATA(answer);
        errno = answer->nlmsg_len >= NLMSG_LENGTH(sizeof *failure) ? -failure->error : EBADMSG;
        return -1;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(answer);
    if (answer->nlmsg_len < NLMSG_LENGTH(sizeof *found)) {
        errno = EBADMSG;
        return -1;
    }
    /* A closed socket has no inode, and its uid is reported as 0. */
    if (found->idiag_inode == 0 || !can_have_socket(found->idiag_state)) {
        errno = ENOENT;
        return -1;
    }
    *uid = found->idiag_uid;
    return 0;
}

static int diagnosis_socket(void) { return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG); }

int linux_loopback_peer(int connection, uid_t *uid) {
    struct sockaddr_storage theirs, ours;
    socklen_t theirs_length = sizeof theirs, ours_length = sizeof ours;
    struct end client, server;
    if (getpeername(connection, (struct sockaddr *)&theirs, &theirs_length) != 0 ||
        getsockname(connection, (struct sockaddr *)&ours, &ours_length) != 0)
        return -1;
    if (read_end(&theirs, &client) != 0 || read_end(&ours, &server) != 0 || !is_loopback(&client) ||
        !is_loopback(&server)) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int netlink = diagnosis_socket();
    if (netlink < 0) return -1;
    int result = ask(netlink, &client, &server, uid);
    int error = errno;
    close(netlink);
    errno = error;
    return result;
}
