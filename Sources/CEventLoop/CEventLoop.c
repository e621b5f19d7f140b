#include "CEventLoop.h"

#include <sys/timerfd.h>

int CEventLoop_make_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int CEventLoop_set_timer(int timer, long long nanoseconds) {
  struct itimerspec setting = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  return timerfd_settime(timer, 0, &setting, NULL);
}
