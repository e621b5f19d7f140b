// PCRE2 for bytes and UTF-8. Its names are macros, which Swift does not import.
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

typedef pcre2_code_8 cpcre2_code;

static inline cpcre2_code *cpcre2_compile(
    const unsigned char *pattern, size_t length, int *error, size_t *offset) {
  // Bytes that are not UTF-8 do not make a match fail, as in blackbox_exporter.
  return pcre2_compile_8(pattern, length, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, error, offset, NULL);
}
