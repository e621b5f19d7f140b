// Batched datagrams (sendmmsg(2), recvmmsg(2)) with ancillary data (cmsg(3)), and the error queue of a socket (ip(7),
// IP_RECVERR). Swift does not import the macros, and its Glibc module is built without _GNU_SOURCE.
#pragma once
#include <netinet/in.h>
#include <netinet/icmp6.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

// linux/errqueue.h needs <time.h> and does not include it.
#include <linux/errqueue.h>

#define CSOCKETS_BATCH 64
#define CSOCKETS_PACKET 1600
#define CSOCKETS_CONTROL 256

// The kernel's struct mmsghdr.
struct csockets_message {
  struct msghdr head;
  unsigned int length;
};

struct csockets_batch {
  struct csockets_message messages[CSOCKETS_BATCH];
  struct iovec vectors[CSOCKETS_BATCH];
  struct sockaddr_in6 names[CSOCKETS_BATCH];
  _Alignas(16) unsigned char control[CSOCKETS_BATCH][CSOCKETS_CONTROL];
  unsigned char packets[CSOCKETS_BATCH][CSOCKETS_PACKET];
};

// struct in_pktinfo and in6_pktinfo; <netinet/in.h> declares them under _GNU_SOURCE only.
struct csockets_pktinfo4 {
  int interface;
  struct in_addr source;
  struct in_addr destination;
};
struct csockets_pktinfo6 {
  struct in6_addr address;
  unsigned int interface;
};

extern int csockets_sendmmsg(int, struct csockets_message *, unsigned int, int) __asm__("sendmmsg");
extern int csockets_recvmmsg(int, struct csockets_message *, unsigned int, int, void *) __asm__("recvmmsg");

enum { csockets_ip_pktinfo = 8, csockets_ip_recvttl = 12, csockets_ip_ttl = 2, csockets_ip_recverr = 11 };
enum {
  csockets_ipv6_recvpktinfo = 49,
  csockets_ipv6_pktinfo = 50,
  csockets_ipv6_recvhoplimit = 51,
  csockets_ipv6_hoplimit = 52,
  csockets_ipv6_recverr = 25,
};
enum { csockets_so_timestampns = 35, csockets_errqueue = 0x2000 };

static inline unsigned char *csockets_packet(struct csockets_batch *batch, int index) {
  return batch->packets[index];
}

static inline unsigned int csockets_length(struct csockets_batch *batch, int index) {
  return batch->messages[index].length;
}

static inline const struct sockaddr_in6 *csockets_name(struct csockets_batch *batch, int index) {
  return &batch->names[index];
}

static inline int csockets_name_length(struct csockets_batch *batch, int index) {
  return (int)batch->messages[index].head.msg_namelen;
}

// Prepares one message: the first `length` bytes of its packet, to `name`.
static inline void csockets_prepare_send(
    struct csockets_batch *batch, int index, const struct sockaddr *name, socklen_t name_length, size_t length) {
  memcpy(&batch->names[index], name, name_length);
  batch->vectors[index] = (struct iovec){batch->packets[index], length};
  batch->messages[index].head = (struct msghdr){
      .msg_name = &batch->names[index],
      .msg_namelen = name_length,
      .msg_iov = &batch->vectors[index],
      .msg_iovlen = 1,
  };
}

// Sets the interface (0: any) and the source address (4 or 16 bytes; null: any) of one message.
static inline void csockets_set_pktinfo(
    struct csockets_batch *batch, int index, int is_ipv6, unsigned int interface, const void *source) {
  struct msghdr *head = &batch->messages[index].head;
  head->msg_control = batch->control[index];
  head->msg_controllen = is_ipv6 ? CMSG_SPACE(sizeof(struct csockets_pktinfo6)) : CMSG_SPACE(sizeof(struct csockets_pktinfo4));
  memset(batch->control[index], 0, head->msg_controllen);
  struct cmsghdr *control = CMSG_FIRSTHDR(head);
  if (is_ipv6) {
    struct csockets_pktinfo6 info = {.interface = interface};
    if (source) memcpy(&info.address, source, 16);
    control->cmsg_level = IPPROTO_IPV6;
    control->cmsg_type = csockets_ipv6_pktinfo;
    control->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(control), &info, sizeof info);
  } else {
    struct csockets_pktinfo4 info = {.interface = (int)interface};
    if (source) memcpy(&info.source, source, 4);
    control->cmsg_level = IPPROTO_IP;
    control->cmsg_type = csockets_ip_pktinfo;
    control->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(control), &info, sizeof info);
  }
}

static inline int csockets_send(int descriptor, struct csockets_batch *batch, int from, int count) {
  return csockets_sendmmsg(descriptor, batch->messages + from, (unsigned int)count, MSG_DONTWAIT);
}

static inline void csockets_prepare_receive(struct csockets_batch *batch, int index) {
  batch->vectors[index] = (struct iovec){batch->packets[index], CSOCKETS_PACKET};
  batch->messages[index].head = (struct msghdr){
      .msg_name = &batch->names[index],
      .msg_namelen = sizeof batch->names[index],
      .msg_iov = &batch->vectors[index],
      .msg_iovlen = 1,
      .msg_control = batch->control[index],
      .msg_controllen = CSOCKETS_CONTROL,
  };
}

static inline int csockets_receive(int descriptor, struct csockets_batch *batch) {
  for (int index = 0; index < CSOCKETS_BATCH; index++) csockets_prepare_receive(batch, index);
  return csockets_recvmmsg(descriptor, batch->messages, CSOCKETS_BATCH, MSG_DONTWAIT, 0);
}

// The ancillary data of one message.
struct csockets_ancillary {
  int64_t arrived;       // CLOCK_REALTIME in nanoseconds; 0 if unknown
  int hop_limit;         // −1 if unknown
  int local_length;        // 4 or 16: bytes of the local address that received it; 0 if unknown
  unsigned char local[16];
  int error;             // errno of an entry of the error queue; 0 for none
};

static inline struct csockets_ancillary csockets_read_ancillary(struct csockets_batch *batch, int index) {
  struct csockets_ancillary ancillary = {.hop_limit = -1};
  struct msghdr *head = &batch->messages[index].head;
  for (struct cmsghdr *control = CMSG_FIRSTHDR(head); control; control = CMSG_NXTHDR(head, control)) {
    const void *data = CMSG_DATA(control);
    if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == csockets_so_timestampns) {
      struct timespec moment;
      memcpy(&moment, data, sizeof moment);
      ancillary.arrived = (int64_t)moment.tv_sec * 1000000000 + moment.tv_nsec;
    } else if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == csockets_ip_ttl) {
      memcpy(&ancillary.hop_limit, data, sizeof(int));
    } else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == csockets_ipv6_hoplimit) {
      memcpy(&ancillary.hop_limit, data, sizeof(int));
    } else if (control->cmsg_level == IPPROTO_IP && control->cmsg_type == csockets_ip_pktinfo) {
      ancillary.local_length = 4;
      memcpy(ancillary.local, (const unsigned char *)data + 8, 4);
    } else if (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == csockets_ipv6_pktinfo) {
      ancillary.local_length = 16;
      memcpy(ancillary.local, data, 16);
    } else if ((control->cmsg_level == IPPROTO_IP && control->cmsg_type == csockets_ip_recverr) ||
               (control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == csockets_ipv6_recverr)) {
      struct sock_extended_err error;
      memcpy(&error, data, sizeof error);
      ancillary.error = (int)error.ee_errno;
    }
  }
  return ancillary;
}

// Reads one entry of the error queue into the first message: the packet that was sent, and its destination as the name.
// Returns 0, or −1 with errno.
static inline int csockets_receive_error(int descriptor, struct csockets_batch *batch) {
  csockets_prepare_receive(batch, 0);
  ssize_t length = recvmsg(descriptor, &batch->messages[0].head, csockets_errqueue | MSG_DONTWAIT);
  if (length < 0) return -1;
  batch->messages[0].length = (unsigned int)length;
  return 0;
}
