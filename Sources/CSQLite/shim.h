// SQLite, and what Swift does not import of it: variadic functions and macros that cast.
#pragma once
#include <sqlite3.h>
#include <sys/vfs.h>

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
