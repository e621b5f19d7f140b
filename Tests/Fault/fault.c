// Preloaded into the program under test: makes the disk of one directory fail, wait or end the process, as a file says.
// FAULT_DIRECTORY is the directory. The file FAULT_FILE has a line for each fault; without the file nothing changes:
//   eio                   writes and synchronizations fail
//   sync                  synchronizations fail
//   MILLISECONDS          every write and synchronization takes this time
//   hold                  every write and synchronization of the database waits
//   slow MILLISECONDS     every read takes this time
//   read INODE N EFFECT   from its Nth read of this file on, a process has a crash, or hangs, or eats memory
//   kill NAME             removing a name that ends so ends the process by SIGKILL
//   names                 no file gets another name
//   nolink                the file system has no hard links
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int is_inside(const char *path) {
  const char *directory = getenv("FAULT_DIRECTORY");
  return directory && strncmp(path, directory, strlen(directory)) == 0;
}

// The path of a descriptor of the directory; null for others. The index of the log is memory, and written when it grows.
static const char *path_inside(int descriptor, char path[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, 4095);
  path[length < 0 ? 0 : length] = 0;
  return is_inside(path) && !strstr(path, "-shm") ? path : NULL;
}

// The rest of the line of a fault; null if there is none. The empty name is that of a number.
static const char *fault(const char *name, char text[256]) {
  const char *file = getenv("FAULT_FILE");
  int control = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (control < 0) return NULL;
  ssize_t count = read(control, text, 255);
  close(control);
  text[count < 0 ? 0 : count] = 0;
  for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    size_t length = strlen(name);
    if (length == 0 ? *line >= '0' && *line <= '9' : strncmp(line, name, length) == 0) return line + length;
  }
  return NULL;
}

// In steps, so that the end of the fault is noticed.
static void wait_for(long milliseconds) {
  for (; milliseconds > 0 && access(getenv("FAULT_FILE"), F_OK) == 0; milliseconds -= 10) {
    struct timespec step = {.tv_nsec = 10000000};
    nanosleep(&step, NULL);
  }
}

// Returns -1 if the call must fail.
static int on_write(int descriptor, int is_sync) {
  char text[256], buffer[4096];
  const char *path = path_inside(descriptor, buffer);
  if (!path) return 0;
  if (fault("eio", text) || (is_sync && fault("sync", text))) {
    errno = EIO;
    return -1;
  }
  const char *time = fault("", text);
  if (time) wait_for(atol(time));
  if (strstr(path, "/reachd.db") && fault("hold", text)) wait_for(600000);
  return 0;
}

static void on_read(int descriptor) {
  static long reads;
  char text[256], effect[8], path[4096];
  unsigned long inode;
  long first;
  struct stat status;
  const char *words = fault("slow ", text);
  if (words && path_inside(descriptor, path)) wait_for(atol(words));
  words = fault("read ", text);
  if (!words || sscanf(words, "%lu %ld %7s", &inode, &first, effect) != 3) return;
  if (fstat(descriptor, &status) != 0 || status.st_ino != inode || ++reads < first) return;
  if (effect[0] == 'c') raise(SIGSEGV);
  if (effect[0] == 'h') wait_for(600000);
  while (effect[0] == 'e') {
    char *block = malloc(1 << 20);
    if (!block) abort();
    memset(block, 1, 1 << 20);
  }
}

static int is_renaming_impossible(const char *path, const char *name, int code) {
  char text[256];
  if (!is_inside(path) || !fault(name, text)) return 0;
  errno = code;
  return 1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  REAL(pwrite64);
  return on_write(descriptor, 0) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  REAL(pwrite);
  return on_write(descriptor, 0) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
  REAL(pread64);
  on_read(descriptor);
  return real(descriptor, bytes, count, offset);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
  REAL(pread);
  on_read(descriptor);
  return real(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  REAL(fdatasync);
  return on_write(descriptor, 1) ? -1 : real(descriptor);
}

int fsync(int descriptor) {
  REAL(fsync);
  return on_write(descriptor, 1) ? -1 : real(descriptor);
}

int link(const char *path, const char *name) {
  REAL(link);
  if (is_renaming_impossible(path, "nolink", EPERM) || is_renaming_impossible(path, "names", EIO)) return -1;
  return real(path, name);
}

int rename(const char *path, const char *name) {
  REAL(rename);
  return is_renaming_impossible(path, "names", EIO) ? -1 : real(path, name);
}

int unlink(const char *path) {
  REAL(unlink);
  char text[256];
  const char *name = is_inside(path) ? fault("kill ", text) : NULL;
  size_t length = name ? strcspn(name, "\n") : 0;
  if (name && strncmp(path + strlen(path) - length, name, length) == 0) raise(SIGKILL);
  return real(path);
}
