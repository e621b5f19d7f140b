// Capabilities (capabilities(7)). prctl(2) and syscall(2) are variadic, and glibc has no header for capset(2). ioctl(2)
// is variadic, too.
#pragma once
#include <linux/capability.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// The capability sets of one thread, 64 bits each.
typedef struct {
  unsigned long long effective, permitted, inheritable;
} CProcess_Capabilities;

static inline int CProcess_get_capabilities(CProcess_Capabilities *sets) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  sets->effective = data[0].effective | (unsigned long long)data[1].effective << 32;
  sets->permitted = data[0].permitted | (unsigned long long)data[1].permitted << 32;
  sets->inheritable = data[0].inheritable | (unsigned long long)data[1].inheritable << 32;
  return 0;
}

// Sets the effective capabilities to some of the permitted ones.
static inline int CProcess_set_effective(unsigned long long effective) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return -1;
  data[0].effective = data[0].permitted & (unsigned)effective;
  data[1].effective = data[1].permitted & (unsigned)(effective >> 32);
  return (int)syscall(SYS_capset, &header, data);
}

// Clears all three sets.
static inline int CProcess_clear_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2] = {{0}};
  return (int)syscall(SYS_capset, &header, data);
}

// 1 or 0; -1 when the kernel does not have the capability.
static inline int CProcess_is_bounding(unsigned long capability) {
  return prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
}

static inline int CProcess_drop_bounding(unsigned long capability) {
  return prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

static inline int CProcess_clear_ambient(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

static inline int CProcess_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

static inline int CProcess_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

static inline int CProcess_window_size(int descriptor, struct winsize *size) {
  return ioctl(descriptor, TIOCGWINSZ, size);
}

// A signal when the thread that started this process ends.
static inline int CProcess_end_with_parent(int signal) { return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }

// pipe2(2) is declared only with _GNU_SOURCE. The flags are those of open(2).
static inline int CProcess_pipe(int *reading, int *writing, int flags) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, flags) != 0) return -1;
  *reading = ends[0];
  *writing = ends[1];
  return 0;
}

// close_range(2): a header of glibc 2.34 declares it, and those of older kernels do not have its number.
static inline int CProcess_close_range(unsigned first, unsigned last, unsigned flags) {
  return (int)syscall(436, first, last, flags);
}

// Its flags: the thread gets a table of descriptors of its own; descriptors are made close-on-exec instead of closed.
static const unsigned CProcess_close_range_unshare = 1 << 1, CProcess_close_range_cloexec = 1 << 2;
