// The floor of the kernel benchmarks: receives events and asks the kernel what a verdict requires, and nothing else.
//
//   floor route   after an event of an IPv4 route: the route of one target (two requests, as reachd makes for a class);
//                 after a removal first the barrier, because the kernel sends that event before it unlinks the route
//   floor link    after an event of a link: that link (which is the barrier), and the routes of the default path of both
//                 families and of one target; a connected socket for each IPv6 address that is refused
//
// It speaks the protocol of `KernelBenchmark watch`: "begin" forgets and "end" prints a line for each event, with the times
// at which it was received and answered, in nanoseconds of CLOCK_REALTIME.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 1 << 16, NO_LINK = 0x7ffffffe };

static struct { long long received, answered; } lines[LINES];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queries, probe;
static char request[4096], answer[1 << 16];
static unsigned length, sequence;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *operation) {
  perror(operation);
  exit(1);
}

static void *begin_message(int type, int size) {
  struct nlmsghdr *header = (void *)(request + length);
  memset(header, 0, NLMSG_SPACE(size));
  header->nlmsg_len = NLMSG_LENGTH(size);
  header->nlmsg_type = type;
  header->nlmsg_flags = NLM_F_REQUEST;
  header->nlmsg_seq = ++sequence;
  length += NLMSG_SPACE(size);
  return NLMSG_DATA(header);
}

static void attribute(void *body, int type, const void *value, int size) {
  struct nlmsghdr *header = (void *)((char *)body - NLMSG_HDRLEN);
  struct rtattr *added = (void *)(request + length);
  memset(added, 0, RTA_SPACE(size));
  added->rta_type = type;
  added->rta_len = RTA_LENGTH(size);
  memcpy(RTA_DATA(added), value, size);
  length += RTA_SPACE(size);
  header->nlmsg_len = (char *)(request + length) - (char *)header;
}

static void link_message(unsigned index) {
  struct ifinfomsg *body = begin_message(RTM_GETLINK, sizeof *body);
  unsigned mask = RTEXT_FILTER_SKIP_STATS;
  body->ifi_index = index;
  if (index != NO_LINK) attribute(body, IFLA_EXT_MASK, &mask, sizeof mask);
}

// As RouteLookup does: the route that matches, and what a packet would do.
static void route_messages(int family, const char *text) {
  unsigned char address[16], tcp = IPPROTO_TCP;
  inet_pton(family, text, address);
  for (int plain = 0; plain < 2; plain++) {
    struct rtmsg *body = begin_message(RTM_GETROUTE, sizeof *body);
    body->rtm_family = family;
    body->rtm_dst_len = family == AF_INET ? 32 : 128;
    if (!plain) body->rtm_flags = RTM_F_FIB_MATCH | (family == AF_INET ? RTM_F_LOOKUP_TABLE : 0);
    attribute(body, RTA_DST, address, family == AF_INET ? 4 : 16);
    attribute(body, RTA_IP_PROTO, &tcp, 1);
  }
}

// Sends all messages and receives their answers; returns how many were refused.
static int ask(void) {
  int refused = 0;
  unsigned last = sequence, seen = 0;
  if (send(queries, request, length, 0) < 0) fail("send");
  while (seen != last) {
    int size = recv(queries, answer, sizeof answer, 0);
    if (size < 0) fail("recv");
    for (struct nlmsghdr *header = (void *)answer; NLMSG_OK(header, (unsigned)size); header = NLMSG_NEXT(header, size)) {
      seen = header->nlmsg_seq;
      refused += header->nlmsg_type == NLMSG_ERROR;
    }
  }
  length = 0;
  return refused;
}

static void connect_probe(const char *text) {
  struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(9)}, none = {.sin6_family = AF_UNSPEC};
  socklen_t size = sizeof address;
  inet_pton(AF_INET6, text, &address.sin6_addr);
  if (connect(probe, (void *)&address, sizeof address)) return;
  getsockname(probe, (void *)&address, &size);
  connect(probe, (void *)&none, sizeof none);
}

static void handle(const struct nlmsghdr *event) {
  switch (event->nlmsg_type) {
  case RTM_DELROUTE:
    link_message(NO_LINK);
    ask();
    /* fall through */
  case RTM_NEWROUTE:
    route_messages(AF_INET, "198.18.0.0");
    ask();
    break;
  case RTM_NEWLINK:
    link_message(((const struct ifinfomsg *)NLMSG_DATA(event))->ifi_index);
    ask();
    route_messages(AF_INET, "0.0.0.1");
    route_messages(AF_INET, "128.0.0.1");
    route_messages(AF_INET6, "2000::1");
    route_messages(AF_INET6, "3000::1");
    route_messages(AF_INET, "198.18.0.0");
    if (ask()) {
      connect_probe("2000::1");
      connect_probe("3000::1");
    }
  }
}

static void *commands(void *none) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    pthread_mutex_lock(&lock);
    if (!strcmp(line, "begin\n")) count = 0;
    if (!strcmp(line, "end\n")) {
      for (int index = 0; index < count; index++)
        printf("%lld %lld %lld %lld\n", lines[index].received, lines[index].received, lines[index].answered,
               lines[index].answered);
      puts("end");
    }
    fflush(stdout);
    pthread_mutex_unlock(&lock);
  }
  exit(0);
  return none;
}

static int open_netlink(unsigned groups) {
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), on = 1;
  if (file < 0 || bind(file, (void *)&address, sizeof address)) fail("netlink");
  setsockopt(file, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  setsockopt(file, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(file, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return file;
}

int main(int argc, char **argv) {
  static char buffer[1 << 16];
  pthread_t thread;
  if (argc != 2 || (strcmp(argv[1], "route") && strcmp(argv[1], "link"))) {
    fputs("usage: floor route|link\n", stderr);
    return 64;
  }
  int events = open_netlink(strcmp(argv[1], "link") ? RTMGRP_IPV4_ROUTE : RTMGRP_LINK);
  queries = open_netlink(0);
  probe = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (pthread_create(&thread, NULL, commands, NULL)) fail("pthread_create");
  puts("ready");
  fflush(stdout);
  for (;;) {
    int size = recv(events, buffer, sizeof buffer, 0);
    long long received = now();
    if (size < 0) fail("recv");
    handle((void *)buffer);
    long long answered = now();
    pthread_mutex_lock(&lock);
    if (count < LINES) {
      lines[count].received = received;
      lines[count++].answered = answered;
    }
    pthread_mutex_unlock(&lock);
  }
}
