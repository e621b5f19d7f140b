// GnuTLS: digests, random bytes and comparing without telling (gnutls_hash_fast, gnutls_rnd, gnutls_memcmp); sessions and
// certificates.
#pragma once
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

// gnutls_free is a variable, which Swift takes for shared state.
static inline void cgnutls_free(void *memory) { gnutls_free(memory); }

// A macro with a cast.
static inline unsigned int cgnutls_client_flags(void) { return GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL; }
