// Preloaded into the program under test: a seccomp filter (seccomp(2)) that refuses system calls, as container runtimes and
// sandboxes do. REFUSED_CALLS has one rule a word: CALL[,ARGUMENT=VALUE]…:ERRNO, where the arguments are numbered from 0 and
// their low 32 bits are compared. Every other call is allowed.
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct { const char *name; unsigned number; } calls[] = {
  {"clone3", __NR_clone3}, {"inotify_init1", __NR_inotify_init1}, {"setsockopt", __NR_setsockopt}, {"socket", __NR_socket},
  {"timerfd_settime", __NR_timerfd_settime},
};

static void fail(const char *what) {
  fprintf(stderr, "refuse.c: %s\n", what);
  _exit(99);
}

__attribute__((constructor)) static void refuse(void) {
  const char *list = getenv("REFUSED_CALLS");
  if (!list || !*list) return;
  static struct sock_filter program[512];
  static char text[4096];
  size_t length = 0;
  snprintf(text, sizeof text, "%s", list);
  char *rest = text;
  for (char *rule; (rule = strsep(&rest, " "));) {
    if (!*rule) continue;
    char *code = strchr(rule, ':');
    if (!code || length > 450) fail("a rule is CALL[,ARGUMENT=VALUE]…:ERRNO");
    *code++ = 0;
    char *call = strsep(&rule, ",");
    size_t index = 0;
    while (index < sizeof calls / sizeof *calls && strcmp(calls[index].name, call)) index++;
    if (index == sizeof calls / sizeof *calls) fail("an unknown call");
    // Each comparison skips the rest of its rule; the length of the rest is known only at its end.
    size_t jumps[16], count = 0;
    program[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    jumps[count++] = length;
    program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[index].number, 0, 0);
    for (char *part; (part = strsep(&rule, ","));) {
      unsigned argument, value;
      if (sscanf(part, "%u=%u", &argument, &value) != 2 || argument > 5 || count == 16) fail("an argument is NUMBER=VALUE");
      program[length++] = (struct sock_filter)BPF_STMT(
          BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * argument);
      jumps[count++] = length;
      program[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0);
    }
    program[length++] = (struct sock_filter)BPF_STMT(
        BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (strtoul(code, NULL, 10) & SECCOMP_RET_DATA));
    while (count) {
      size_t jump = jumps[--count];
      program[jump].jf = (unsigned char)(length - jump - 1);
    }
  }
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {(unsigned short)length, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("PR_SET_NO_NEW_PRIVS");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) fail("PR_SET_SECCOMP");
}
