// SQLite, and what Swift does not import of it: variadic functions and macros that cast. Not <fcntl.h>: it declares struct
// stat, which Swift then takes for a part of this module.
#pragma once
#include <linux/stat.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

// Closing the last connection does not checkpoint: it could take seconds, and the write-ahead log is complete.
static inline int CSQLite_disable_checkpoint_on_close(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// A file may come from elsewhere: no statement of the schema of a file runs, and damaged pages are found when they are read.
static inline int CSQLite_distrust_schema(sqlite3 *db) {
  int code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
  if (code == SQLITE_OK) code = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  return code;
}

// SQLITE_TRANSIENT: SQLite copies the bytes.
static inline int CSQLite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, count ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// statfs(2): the type of a file system; 0 if it is not known.
static inline unsigned int CSQLite_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned int)status.f_type : 0;
}

// statx(2), which the C library declares for GNU programs only: when a file was created, in nanoseconds since 1970; 0 if
// that is not known.
static inline long long CSQLite_birth_time(int directory, const char *path) {
  struct statx status;
  if (syscall(SYS_statx, directory, path, 0, STATX_BTIME, &status) != 0) return 0;
  if (!(status.stx_mask & STATX_BTIME)) return 0;
  return (long long)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
}

// dup3(2), which the C library declares for GNU programs only: makes a descriptor refer to the open file of another one.
static inline int CSQLite_replace_descriptor(int from, int descriptor, int flags) {
  return (int)syscall(SYS_dup3, from, descriptor, flags);
}
