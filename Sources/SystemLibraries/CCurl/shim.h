#include <arpa/nameser.h>
#include <curl/curl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic macros, so each kind of argument has a function. */
typedef size_t (*curl_data_function)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*curl_socket_function)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode curl_set_number(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_set_context(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_set_data_function(CURL *handle, CURLoption option, curl_data_function value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_set_socket_function(CURL *handle, CURLoption option, curl_socket_function value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode curl_get_number(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode curl_get_text(CURL *handle, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(handle, info, value);
}
/* Macros that Swift does not import. */
static const long curl_password_methods = (long)(CURLAUTH_BASIC | CURLAUTH_DIGEST);
static const long curl_certificate_not_yet_valid = 9; /* X509_V_ERR_CERT_NOT_YET_VALID of OpenSSL. */

static inline CURLcode curl_get_seconds(CURL *handle, CURLINFO info, double *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

/* 1 if a name server answers: all know the servers of the root. */
static inline int resolver_answers(void) {
    unsigned char answer[NS_PACKETSZ];
    return res_query(".", ns_c_in, ns_t_ns, answer, sizeof answer) > 0;
}
