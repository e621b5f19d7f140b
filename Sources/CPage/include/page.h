/* The files of the status page, embedded into the program by the compiler (C23 #embed). */
#ifndef REACHD_PAGE_H
#define REACHD_PAGE_H

#include <stddef.h>

/* One embedded file: its path in the directory web and its bytes, which are not terminated. */
struct page_file {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

/* Returns the file with this number, counted from 0; its name is NULL after the last one. */
struct page_file page_file_at(size_t number);

#endif
