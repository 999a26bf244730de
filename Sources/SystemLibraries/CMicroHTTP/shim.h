#pragma once
#include <microhttpd.h>
#include <stddef.h>

/* Swift cannot call variadic functions. */

/* Takes the raw target of a request, before its head is parsed. */
typedef void *(*web_target_callback)(void *context, const char *target, struct MHD_Connection *connection);

/* Keeps escapes in targets: the caller reads the raw target. */
static size_t web_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    size_t length = 0;
    (void)context;
    (void)connection;
    while (text[length] != 0) length++;
    return length;
}

/* A daemon without a socket of its own, served by MHD_run on the caller's loop. `certificate` and `key`: PEM; NULL: no TLS. */
static inline struct MHD_Daemon *web_start(
    MHD_AccessHandlerCallback handler, MHD_NotifyConnectionCallback notify, MHD_RequestCompletedCallback completed,
    web_target_callback target, void *context, unsigned int connections, size_t memory, unsigned int seconds,
    const char *certificate, const char *key) {
    unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_UPGRADE | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    if (certificate != NULL) flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, context, MHD_OPTION_NOTIFY_CONNECTION, notify, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_URI_LOG_CALLBACK, target, context,
        MHD_OPTION_UNESCAPE_CALLBACK, web_keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY,
        certificate != NULL ? tls : none, MHD_OPTION_END);
}

/* Returns the socket of an upgraded connection to MHD, which closes it. */
static inline void web_end_upgrade(struct MHD_UpgradeResponseHandle *handle) {
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

/* The descriptor that is readable when MHD_run has work; -1: there is none. */
static inline int web_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

/* The socket of a connection; -1: there is none. */
static inline int web_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/* A response whose body the callback makes, of unknown length. */
static inline struct MHD_Response *web_stream_response(
    size_t block, MHD_ContentReaderCallback reader, void *context, MHD_ContentReaderFreeCallback end) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, context, end);
}

/* A response with a copy of these bytes. */
static inline struct MHD_Response *web_bytes_response(const void *bytes, size_t length) {
    return MHD_create_response_from_buffer(length, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/* 1 if a connection was closed, 0 if it was begun. */
static inline int web_is_closed(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_CLOSED;
}
