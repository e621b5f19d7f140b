// The kernel's rtnetlink headers. Swift's Glibc module has no sockaddr_nl, and the NLMSG_/RTA_ macros are not imported.
#pragma once
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/fib_rules.h>
#include <linux/nexthop.h>
#include <linux/netconf.h>
#include <linux/neighbour.h>
#include <linux/filter.h>

// glibc declares these only under _GNU_SOURCE, which Swift's importer does not define.
int unshare(int flags);
int memfd_create(const char *name, unsigned int flags);
int gettid(void);
int pipe2(int *ends, int flags);
extern char **environ;

// Swift does not import function-like macros (_IOW). These are the requests of linux/if_tun.h.
static inline unsigned long CNetlink_TUNSETIFF(void) { return TUNSETIFF; }
static inline unsigned long CNetlink_TUNSETLINK(void) { return TUNSETLINK; }
static inline unsigned long CNetlink_TUNSETCARRIER(void) { return TUNSETCARRIER; }

// Swift treats a C variable as shared mutable state, but not a function that returns it.
static inline char **CNetlink_environment(void) { return environ; }

// ioctl(2) is variadic, so Swift cannot call it.
static inline int CNetlink_ioctl(int descriptor, unsigned long request, void *argument) {
  return ioctl(descriptor, request, argument);
}

// Options of sockets that older C libraries do not define (asm-generic/socket.h, linux/in.h, linux/tcp.h).
enum {
  CNetlink_SO_BINDTOIFINDEX = 62,
  CNetlink_IP_BIND_ADDRESS_NO_PORT = 24,
  CNetlink_TCP_FASTOPEN_CONNECT = 30,
  CNetlink_TCP_FASTOPEN_NO_COOKIE = 34,
};

// The constants of sched.h require _GNU_SOURCE too.
enum { CNetlink_CLONE_FILES = 0x400, CNetlink_CLONE_NEWNET = 0x40000000 };
