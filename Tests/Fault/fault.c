// Preloaded into the program under test: makes the disk of one directory fail or wait, as a file says.
// FAULT_DIRECTORY is the directory; the file FAULT_FILE holds "eio", "sync" (only synchronization fails), or a number of
// milliseconds that every write and synchronization takes; without the file nothing changes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// Returns -1 if the call must fail.
static int fault(int descriptor, int is_sync) {
  char link[64], path[4096], text[32];
  const char *directory = getenv("FAULT_DIRECTORY"), *file = getenv("FAULT_FILE");
  if (!directory || !file) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, directory, strlen(directory)) != 0) return 0;
  int control = open(file, O_RDONLY | O_CLOEXEC);
  if (control < 0) return 0;
  ssize_t count = read(control, text, sizeof text - 1);
  close(control);
  text[count < 0 ? 0 : count] = 0;
  if (strncmp(text, "eio", 3) == 0 || (is_sync && strncmp(text, "sync", 4) == 0)) {
    errno = EIO;
    return -1;
  }
  // In steps, so that the end of the fault is noticed.
  for (long left = atol(text); left > 0 && access(file, F_OK) == 0; left -= 10) {
    struct timespec step = {.tv_nsec = 10000000};
    nanosleep(&step, NULL);
  }
  return 0;
}

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  REAL(pwrite64);
  return fault(descriptor, 0) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  REAL(pwrite);
  return fault(descriptor, 0) ? -1 : real(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  return fault(descriptor, 1) ? -1 : real(descriptor);
}

int fsync(int descriptor) {
  REAL(fsync);
  return fault(descriptor, 1) ? -1 : real(descriptor);
}
