// c-ares as it is, and the epoll calls that Glibc's module lacks.
#pragma once
#include <pthread.h>
#include <ares.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

// Glibc's module is built without _GNU_SOURCE and so does not show this one.
static inline int cares_name_thread(pthread_t thread, const char *name) {
  extern int pthread_setname_np(pthread_t, const char *);
  return pthread_setname_np(thread, name);
}
