// zlib with the macros that Swift does not import as functions.
#pragma once
#include <zlib.h>

// deflateInit2 for the gzip format (RFC 1952): a window of 2^15 bytes, and 16 for gzip's header and trailer.
static inline int reachd_gzip_init(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
