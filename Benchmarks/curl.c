/* The floor of an HTTP check: libcurl alone makes a GET of each URL of standard input on a new connection, as many at a time as the
   argument says, each handle used again. It keeps no result but the status, and prints the processor time of all of them. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS = 64 };

static int poller;
static long timeout = -1;

static size_t discard(char *data, size_t size, size_t count, void *context) {
  (void)data;
  (void)context;
  return size * count;
}

static int watch(CURL *handle, curl_socket_t socket, int what, void *context, void *watched) {
  (void)handle;
  (void)context;
  (void)watched;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, NULL);
    return 0;
  }
  struct epoll_event event = {.data.fd = socket};
  event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
  if (epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) != 0) epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
  return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
  (void)multi;
  (void)context;
  timeout = milliseconds;
  return 0;
}

/* The next URL on a handle; 0 at the end of the input. */
static int start(CURLM *multi, CURL *handle) {
  char line[256];
  if (!fgets(line, sizeof line, stdin)) return 0;
  line[strcspn(line, "\n")] = 0;
  curl_easy_setopt(handle, CURLOPT_URL, line);
  curl_multi_add_handle(multi, handle);
  return 1;
}

static double processor_time(void) {
  struct timespec moment;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment);
  return moment.tv_sec + moment.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  int window = argc > 1 ? atoi(argv[1]) : 64;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  poller = epoll_create1(EPOLL_CLOEXEC);
  CURLM *multi = curl_multi_init();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
  double begin = processor_time();
  int active = 0, answered = 0, running;
  for (int index = 0; index < window; index++) {
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    active += start(multi, handle);
  }
  while (active > 0) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(poller, events, EVENTS, (int)timeout);
    if (count == 0) curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (int index = 0; index < count; index++) {
      int mask = (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0)
                 | (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
      curl_multi_socket_action(multi, events[index].data.fd, mask, &running);
    }
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &(int){0}))) {
      CURL *handle = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      answered += message->data.result == CURLE_OK && status == 200;
      curl_multi_remove_handle(multi, handle);
      active -= 1 - start(multi, handle);
    }
  }
  printf("{\"up\": %d, \"cpuSeconds\": %.6f}\n", answered, processor_time() - begin);
  return 0;
}
