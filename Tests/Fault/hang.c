// Preloaded into the program under test: connect(2) does not return on the thread that the file HANG_FILE names, as long as the
// file exists.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Whether the file names this thread.
static int must_hang(void) {
  char wanted[32], own[32] = "";
  const char *file = getenv("HANG_FILE");
  int control = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (control < 0) return 0;
  ssize_t count = read(control, wanted, sizeof wanted - 1);
  close(control);
  wanted[count < 0 ? 0 : count] = 0;
  prctl(PR_GET_NAME, own);
  return strcmp(wanted, own) == 0;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
  static int (*real)(int, const struct sockaddr *, socklen_t);
  if (!real) real = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  while (must_hang()) {
    struct timespec step = {.tv_nsec = 10000000};
    nanosleep(&step, NULL);
  }
  return real(descriptor, address, length);
}
