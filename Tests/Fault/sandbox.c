// Preloaded into the program under test: rtnetlink(7) as the sandbox gVisor answers it (pkg/sentry/socket/netlink/route). Requests
// that it does not know are made unknown to the kernel, too, which then refuses them with the same EOPNOTSUPP: lookups with
// RTM_F_FIB_MATCH, rules, neighbours. It ignores the interface of a lookup, and its answer has no source address.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

// The last is an attribute that the kernel ignores.
enum { unknown_type = 0x3ffc, ignored_attribute = 254 };

static void ignore(struct nlmsghdr *header, unsigned short type) {
  size_t left = RTM_PAYLOAD(header);
  struct rtattr *attribute = RTM_RTA((struct rtmsg *)NLMSG_DATA(header));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
    if (attribute->rta_type == type) attribute->rta_type = ignored_attribute;
}

static int is_netlink(int descriptor) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
  static ssize_t (*real)(int, const void *, size_t, int);
  if (!real) real = (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
  static _Thread_local char copy[1 << 16];
  if (count > sizeof copy || !is_netlink(descriptor)) return real(descriptor, bytes, count, flags);
  memcpy(copy, bytes, count);
  size_t left = count;
  for (struct nlmsghdr *header = (struct nlmsghdr *)copy; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
    const struct rtmsg *route = NLMSG_DATA(header);
    int is_dump = (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    int is_lookup = header->nlmsg_type == RTM_GETROUTE && !is_dump;
    if (is_lookup) ignore(header, RTA_OIF);
    if (header->nlmsg_type == RTM_GETRULE || header->nlmsg_type == RTM_GETNEIGH ||
        (is_lookup && (route->rtm_flags & ~RTM_F_LOOKUP_TABLE)))
      header->nlmsg_type = unknown_type;
  }
  return real(descriptor, copy, count, flags);
}

ssize_t recvfrom(int descriptor, void *bytes, size_t count, int flags, struct sockaddr *sender, socklen_t *size) {
  static ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
  if (!real) real = (ssize_t (*)(int, void *, size_t, int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "recvfrom");
  ssize_t received = real(descriptor, bytes, count, flags, sender, size);
  if (received <= 0 || (size_t)received > count || !is_netlink(descriptor)) return received;
  size_t left = (size_t)received;
  for (struct nlmsghdr *header = bytes; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left))
    if (header->nlmsg_type == RTM_NEWROUTE) ignore(header, RTA_PREFSRC);
  return received;
}
