// PCRE2 for bytes and UTF-8; its names are macros, which Swift does not import.
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

typedef pcre2_code_8 cpcre2_code;

static inline cpcre2_code *cpcre2_compile(
    const unsigned char *pattern, size_t length, int *error, size_t *offset) {
  // As blackbox_exporter's users know it: bytes that are no UTF-8 must not make a match fail as such.
  return pcre2_compile_8(pattern, length, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, error, offset, NULL);
}
