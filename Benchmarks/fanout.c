// Many event-stream clients in one thread: measures the latency and CPU time of delivering an event to all of them.
//
// fanout name=value…: prints one line of JSON. streams.py describes the measurements.
//   how=route|post   the cause of an event: a replaced default route (rtnetlink), or that and a POST
//   port= path= pids=1,2 subscribers=   the server, its processes, and how many streams to open
//   dead=            how many of them never read
//   rounds= gap=     single events, and milliseconds between them
//   burst=           then this number of events, one every 10 ms
//   index=           the interface of the route
//   size= post=      for a POST: bytes of the event, and its path
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { tail_size = 24, deadline_seconds = 30 };

struct subscriber {
  int fd;
  int dead;
  unsigned seen; // number of the last event received
  unsigned kept; // bytes in `tail`: a marker may be split between two reads
  char tail[tail_size];
};

static const char *how = "post", *path = "/events", *post_path = "/publish";
static int port, count = 100, dead, rounds = 20, gap = 50, burst, index_of_interface, size = 1000;
static int pids[64], pid_count;
static struct subscriber *subscribers;
static int poller, trigger = -1, alive;
static unsigned event_number;
static double *latencies;
static size_t latency_count;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "fanout: %s: %s\n", what, strerror(errno));
  exit(1);
}

// CPU time of all threads of the server, in nanoseconds.
static uint64_t server_cpu(void) {
  uint64_t sum = 0;
  for (int i = 0; i < pid_count; i++) {
    char name[300];
    snprintf(name, sizeof name, "/proc/%d/task", pids[i]);
    DIR *tasks = opendir(name);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
      if (task->d_name[0] == '.') continue;
      snprintf(name, sizeof name, "/proc/%d/task/%.20s/schedstat", pids[i], task->d_name);
      FILE *file = fopen(name, "r");
      unsigned long long value = 0;
      if (file && fscanf(file, "%llu", &value) == 1) sum += value;
      if (file) fclose(file);
    }
    if (tasks) closedir(tasks);
  }
  return sum;
}

static long server_rss(void) {
  long sum = 0;
  for (int i = 0; i < pid_count; i++) {
    char name[64], line[256];
    snprintf(name, sizeof name, "/proc/%d/status", pids[i]);
    FILE *file = fopen(name, "r");
    long value;
    while (file && fgets(line, sizeof line, file))
      if (sscanf(line, "VmRSS: %ld", &value) == 1) sum += value;
    if (file) fclose(file);
  }
  return sum;
}

// Descriptors of the server: since Linux 6.2 the size of the directory.
static long server_descriptors(void) {
  long sum = 0;
  for (int i = 0; i < pid_count; i++) {
    char name[64];
    struct stat stat_of;
    snprintf(name, sizeof name, "/proc/%d/fd", pids[i]);
    if (!stat(name, &stat_of)) sum += stat_of.st_size;
  }
  return sum;
}

static int dial(int receive_buffer) {
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  if (receive_buffer) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  for (int attempt = 0; connect(fd, (struct sockaddr *)&server, sizeof server); attempt++) {
    if (attempt == 100) fail("connect");
    usleep(20000);
  }
  return fd;
}

// The marker of an event: the address of a gateway, which is unique.
static int marker(unsigned number, char *text, size_t room) {
  return snprintf(text, room, "10.9.%u.%u\"", 1 + number / 250, 1 + number % 250);
}

static void replace_route(void) {
  struct {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr gateway_head;
    uint32_t gateway;
    struct rtattr index_head;
    uint32_t index;
  } message = {
      .header = {sizeof message, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, 1, 0},
      .route = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT, .rtm_type = RTN_UNICAST},
      .gateway_head = {8, RTA_GATEWAY},
      .gateway = htonl(10u << 24 | 9 << 16 | (1 + event_number / 250) << 8 | (1 + event_number % 250)),
      .index_head = {8, RTA_OIF},
      .index = (uint32_t)index_of_interface,
  };
  static int kernel = -1;
  if (kernel < 0) kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (send(kernel, &message, sizeof message, 0) < 0) fail("rtnetlink");
}

static void publish(void) {
  char body[20000], request[21000], mark[32], reply[4096];
  if (trigger < 0) trigger = dial(0);
  marker(event_number, mark, sizeof mark);
  int bytes = snprintf(body, sizeof body, "{\"gateway\":\"%s,\"rest\":\"", mark);
  while (bytes < size - 2) body[bytes++] = 'x';
  body[bytes++] = '"';
  body[bytes++] = '}';
  int head = snprintf(request, sizeof request,
                      "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", post_path, bytes);
  memcpy(request + head, body, (size_t)bytes);
  while (recv(trigger, reply, sizeof reply, MSG_DONTWAIT) > 0) {}
  if (send(trigger, request, (size_t)(head + bytes), MSG_NOSIGNAL) < 0) fail("publish");
}

// The route is replaced for all servers: the kernel then looks up the route of every stream again with the next packet.
static void make_event(void) {
  event_number++;
  replace_route();
  if (!strcmp(how, "post")) publish();
}

// Reads available data; returns how many subscribers have just received the current event. Waits at most `wait` ms.
static int take(int wait, uint64_t since) {
  static struct epoll_event events[1024];
  static char buffer[1 << 17];
  char mark[32];
  size_t mark_size = (size_t)marker(event_number, mark, sizeof mark);
  int fresh = 0, ready = epoll_wait(poller, events, 1024, wait);
  for (int i = 0; i < ready; i++) {
    struct subscriber *s = &subscribers[events[i].data.u32];
    memcpy(buffer, s->tail, s->kept);
    ssize_t got = recv(s->fd, buffer + s->kept, sizeof buffer - tail_size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) {
      fprintf(stderr, "fanout: a stream was closed\n");
      exit(1);
    }
    size_t all = s->kept + (size_t)got;
    if (s->seen != event_number && event_number && memmem(buffer, all, mark, mark_size)) {
      s->seen = event_number;
      fresh++;
      if (since) latencies[latency_count++] = (double)(now() - since) / 1e6;
    }
    s->kept = all < tail_size ? (unsigned)all : tail_size;
    memmove(s->tail, buffer + all - s->kept, s->kept);
  }
  return fresh;
}

static void quiet(int milliseconds) {
  uint64_t end = now() + (uint64_t)milliseconds * 1000000;
  while (now() < end) take(10, 0);
}

static void open_streams(void) {
  char request[512], first[16];
  int length = snprintf(request, sizeof request,
                        "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", path);
  for (int i = 0; i < count; i++) {
    struct subscriber *s = &subscribers[i];
    s->dead = i < dead;
    s->fd = dial(s->dead ? 2048 : 0);
    if (send(s->fd, request, (size_t)length, MSG_NOSIGNAL) != length) fail("request");
  }
  for (int i = 0; i < count; i++) {
    struct subscriber *s = &subscribers[i];
    // At least the head, so that every stream is known to be open.
    if (recv(s->fd, first, 12, MSG_WAITALL) != 12 || memcmp(first + 9, "200", 3)) {
      fprintf(stderr, "fanout: no stream: %.12s\n", first);
      exit(1);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
    if (!s->dead && epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &event)) fail("epoll_ctl");
  }
  alive = count - dead;
}

// Waits until every reading subscriber has the current event; returns the nanoseconds since `since`.
static uint64_t wait_for_all(uint64_t since, int is_measured) {
  for (int seen = 0; seen < alive;) {
    if (now() - since > deadline_seconds * 1000000000ull) {
      fprintf(stderr, "fanout: %d of %d got event %u in time\n", seen, alive, event_number);
      exit(1);
    }
    seen += take(1000, is_measured ? since : 0);
  }
  return now() - since;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static double at(double *values, size_t n, double part) {
  qsort(values, n, sizeof *values, ascending);
  return n ? values[(size_t)((double)(n - 1) * part)] : 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) return 64;
    *value++ = 0;
    struct { const char *name; int *number; const char **text; } options[] = {
        {"how", 0, &how}, {"path", 0, &path}, {"post", 0, &post_path}, {"port", &port, 0},
        {"subscribers", &count, 0}, {"dead", &dead, 0}, {"rounds", &rounds, 0}, {"gap", &gap, 0},
        {"burst", &burst, 0}, {"index", &index_of_interface, 0}, {"size", &size, 0}};
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
      if (!strcmp(argv[i], options[o].name)) {
        if (options[o].number) *options[o].number = atoi(value);
        else *options[o].text = value;
      }
    if (!strcmp(argv[i], "pids"))
      for (char *one = strtok(value, ","); one && pid_count < 64; one = strtok(0, ",")) pids[pid_count++] = atoi(one);
  }
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  subscribers = calloc((size_t)count, sizeof *subscribers);
  latencies = calloc((size_t)count * (size_t)(rounds + 1), sizeof *latencies);
  double *last = calloc((size_t)rounds + 1, sizeof *last);
  poller = epoll_create1(EPOLL_CLOEXEC);

  long rss = server_rss(), descriptors = server_descriptors();
  open_streams();
  quiet(700);
  double rss_each = (double)(server_rss() - rss) / count;

  // The first events fill caches, and the sockets of subscribers that never read.
  for (int i = 0; i < (dead ? 150 : 3); i++) {
    make_event();
    wait_for_all(now(), 0);
  }
  quiet(200);
  uint64_t cpu = server_cpu();
  for (int i = 0; i < rounds; i++) {
    uint64_t start = now();
    make_event();
    last[i] = (double)wait_for_all(start, 1) / 1e6;
    quiet(gap);
  }
  double cpu_each = rounds ? (double)(server_cpu() - cpu) / 1e3 / rounds / count : 0;

  uint64_t start = now();
  double burst_cpu = 0, burst_seconds = 0;
  if (burst) {
    cpu = server_cpu();
    for (int i = 0; i < burst; i++) {
      while (now() < start + (uint64_t)i * 10000000) take(1, 0);
      make_event();
    }
    // A subscriber that received the last event has received all.
    wait_for_all(now(), 0);
    burst_seconds = (double)(now() - start) / 1e9;
    quiet(200);
    burst_cpu = (double)(server_cpu() - cpu) / 1e9;
  }

  start = now();
  for (int i = 0; i < count; i++) close(subscribers[i].fd);
  while (server_descriptors() > descriptors + 2 && now() - start < 10000000000ull) usleep(1000);
  double reaped = (double)(now() - start) / 1e6;

  printf("{\"last\":%.3f,\"p50\":%.3f,\"p99\":%.3f,\"cpu\":%.4f,\"rss\":%.3f,\"burstCPU\":%.4f,\"burstSeconds\":%.3f,"
         "\"reaped\":%.1f}\n",
         at(last, (size_t)rounds, 0.5), at(latencies, latency_count, 0.5), at(latencies, latency_count, 0.99), cpu_each,
         rss_each, burst_cpu, burst_seconds, reaped);
  return 0;
}
