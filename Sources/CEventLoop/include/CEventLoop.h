// epoll(7), eventfd(2), inotify(7) and pthread_setname_np(3), which Swift's Glibc module does not declare.
#pragma once
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

// struct epoll_event is packed on x86-64 only; this one has the same layout on all architectures.
typedef struct {
  uint64_t token;
  uint32_t events;
} CEventLoop_Event;

static inline int CEventLoop_control(int epoll, int operation, int descriptor, CEventLoop_Event wanted) {
  struct epoll_event event = {.events = wanted.events, .data = {.u64 = wanted.token}};
  return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline CEventLoop_Event CEventLoop_event(const struct epoll_event *events, int index) {
  return (CEventLoop_Event){.token = events[index].data.u64, .events = events[index].events};
}

// glibc declares pthread_setname_np only under _GNU_SOURCE, which Swift's importer does not define.
static inline int CEventLoop_name_thread(const char *name) {
  extern int pthread_setname_np(pthread_t, const char *);
  return pthread_setname_np(pthread_self(), name);
}

// timerfd_create(2) with CLOCK_MONOTONIC; not inline, because its header declares types that Swift's Glibc module has.
int CEventLoop_make_timer(void);
// Sets the time of the only expiry, in nanoseconds from now; zero clears the timer.
int CEventLoop_set_timer(int timer, long long nanoseconds);
