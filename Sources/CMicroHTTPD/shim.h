// Parts of libmicrohttpd that Swift cannot call (variadic functions), and system calls that Swift's Glibc module does
// not declare.
#pragma once
#include <linux/filter.h>
#include <linux/sockios.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/// The type of MHD_OPTION_URI_LOG_CALLBACK, which libmicrohttpd does not declare.
typedef void *(*CMicroHTTPD_TargetCallback)(void *cls, const char *uri, struct MHD_Connection *connection);

/// The callbacks of one daemon. All of them receive `cls`.
struct CMicroHTTPD_Callbacks {
  void *cls;
  MHD_AccessHandlerCallback request;
  CMicroHTTPD_TargetCallback target;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  size_t (*unescape)(void *cls, struct MHD_Connection *connection, char *text);
  MHD_LogCallback diagnostic;
};

/// How strictly requests are parsed. libmicrohttpd 1.0 accepts folded lines, white space in targets (which it answers with
/// redirects) and tabs for spaces by default, and refuses them at level 1. 0.9.75 does not have the levels, and MHDHeadReader
/// refuses such requests.
#if MHD_VERSION >= 0x00097701
#define CMICROHTTPD_STRICTNESS MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1
#else
#define CMICROHTTPD_STRICTNESS MHD_OPTION_STRICT_FOR_CLIENT, 0
#endif

/// Starts a daemon (MHD_start_daemon is variadic).
/// `priorities` and `certificate` (a gnutls_certificate_retrieve_function3) apply under MHD_USE_TLS only. `listen_fd`
/// must be bound and listening. The daemon has no thread of its own.
static inline struct MHD_Daemon *
CMicroHTTPD_start (unsigned int flags, int listen_fd, unsigned int connection_limit, unsigned int timeout_seconds,
                   size_t memory_limit, const struct CMicroHTTPD_Callbacks *callbacks, const char *priorities,
                   void *certificate)
{
  const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) priorities},
                                       {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, certificate},
                                       {MHD_OPTION_END, 0, NULL}};
  const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

  return MHD_start_daemon (flags, 0, NULL, NULL, callbacks->request, callbacks->cls,
                           MHD_OPTION_EXTERNAL_LOGGER, callbacks->diagnostic, callbacks->cls,
                           MHD_OPTION_LISTEN_SOCKET, listen_fd,
                           MHD_OPTION_CONNECTION_LIMIT, connection_limit,
                           MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
                           MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_limit,
                           MHD_OPTION_URI_LOG_CALLBACK, callbacks->target, callbacks->cls,
                           MHD_OPTION_NOTIFY_COMPLETED, callbacks->completed, callbacks->cls,
                           MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection, callbacks->cls,
                           MHD_OPTION_UNESCAPE_CALLBACK, callbacks->unescape, callbacks->cls,
                           CMICROHTTPD_STRICTNESS,
                           MHD_OPTION_ARRAY, 0 != (flags & MHD_USE_TLS) ? tls : none,
                           MHD_OPTION_END);
}

/// Starts a daemon without a listening socket, which serves only connections added by MHD_add_connection.
static inline struct MHD_Daemon *
CMicroHTTPD_start_unbound (unsigned int flags, MHD_AccessHandlerCallback request, void *cls)
{
  return MHD_start_daemon (flags, 0, NULL, NULL, request, cls, MHD_OPTION_END);
}

/// The number of connections that are open or not cleaned up yet (MHD_get_daemon_info is variadic).
static inline unsigned int
CMicroHTTPD_connections (struct MHD_Daemon *daemon)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return NULL == info ? 0 : info->num_connections;
}

/// The daemon's epoll descriptor, or -1 (MHD_get_daemon_info is variadic).
static inline int
CMicroHTTPD_epoll_fd (struct MHD_Daemon *daemon)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return NULL == info ? -1 : info->epoll_fd;
}

/// The connection's descriptor, or -1. MHD_get_connection_info is variadic; each function below reads one of its
/// values.
static inline int
CMicroHTTPD_connection_fd (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return NULL == info ? -1 : info->connect_fd;
}

static inline const struct sockaddr *
CMicroHTTPD_client_address (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return NULL == info ? NULL : info->client_addr;
}

static inline void *
CMicroHTTPD_socket_context (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return NULL == info ? NULL : info->socket_context;
}

static inline size_t
CMicroHTTPD_header_size (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info (connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return NULL == info ? 0 : info->header_size;
}

/// Whether the connection is without TLS, so that bytes can be written to its socket directly.
static inline int
CMicroHTTPD_is_plain (struct MHD_Connection *connection)
{
  return NULL == MHD_get_connection_info (connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
}

/// The GnuTLS session of a connection (gnutls_session_t); NULL without TLS.
static inline void *
CMicroHTTPD_session (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info (connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return NULL == info ? NULL : info->tls_session;
}

/// Closes the connection after the response (MHD_set_response_options is variadic).
static inline enum MHD_Result
CMicroHTTPD_close_after (struct MHD_Response *response)
{
  return MHD_set_response_options (response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// Sets the inactivity timeout of one connection (MHD_set_connection_option is variadic).
static inline void
CMicroHTTPD_set_timeout (struct MHD_Connection *connection, unsigned int seconds)
{
  MHD_set_connection_option (connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The user id of a Unix-domain socket's peer; -1 for other sockets. The struct of SO_PEERCRED is a GNU extension.
static inline long
CMicroHTTPD_peer_user (int descriptor)
{
  struct { int process, user, group; } peer = {0, -1, -1};
  socklen_t size = sizeof (peer);
  return 0 == getsockopt (descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? (long) peer.user : -1;
}

/// Counts the bytes in a socket's receive buffer (ioctl is variadic).
static inline int
CMicroHTTPD_unread (int descriptor, int *count)
{
  return ioctl (descriptor, FIONREAD, count);
}

/// Counts the bytes in a socket's send queue: those that the peer has not acknowledged.
static inline int
CMicroHTTPD_unsent (int descriptor, int *count)
{
  return ioctl (descriptor, SIOCOUTQ, count);
}

/// Accepts the next connection in a listening socket's queue; -1 when there is none. accept4 requires _GNU_SOURCE.
static inline int
CMicroHTTPD_accept (int listener)
{
  return accept4 (listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// Makes a listening TCP socket drop every SYN and still accept segments that complete a handshake.
/// The filter (socket(7), SO_ATTACH_FILTER) receives a segment from its TCP header on; byte 13 has the flags. It has no
/// effect on other sockets.
static inline void
CMicroHTTPD_drop_syn (int listener)
{
  struct sock_filter code[] = {BPF_STMT (BPF_LD | BPF_B | BPF_ABS, 13),
                               BPF_STMT (BPF_ALU | BPF_AND | BPF_K, 0x12), /* SYN, ACK */
                               BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
                               BPF_STMT (BPF_RET | BPF_K, 0),
                               BPF_STMT (BPF_RET | BPF_K, UINT32_MAX)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  setsockopt (listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/// Adds an accepted connection to the daemon with its peer address. The daemon closes it even when it refuses it.
static inline int
CMicroHTTPD_adopt (struct MHD_Daemon *daemon, int client)
{
  struct sockaddr_storage address = { 0 };
  socklen_t size = sizeof address;
  getpeername (client, (struct sockaddr *) &address, &size);
  return MHD_YES == MHD_add_connection (daemon, client, (struct sockaddr *) &address, size);
}

/// Names the calling thread, at most 15 characters, for ps and debuggers (prctl is variadic).
static inline void
CMicroHTTPD_name_thread (const char *name)
{
  prctl (PR_SET_NAME, (unsigned long) name, 0, 0, 0);
}
