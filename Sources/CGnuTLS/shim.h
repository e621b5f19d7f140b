// GnuTLS: digests, random bytes, comparison in constant time (gnutls_hash_fast, gnutls_rnd, gnutls_memcmp), sessions,
// certificates and their keys.
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/// Converts the function to the untyped pointer that libmicrohttpd's options take.
static inline void *
CGnuTLS_certificate_callback (gnutls_certificate_retrieve_function3 *callback)
{
  return (void *) callback;
}

/// gnutls_free is a variable that holds a function. Swift's concurrency checking rejects access to it.
static inline void
CGnuTLS_free (void *memory)
{
  gnutls_free (memory);
}

/// All messages, for gnutls_handshake_set_hook_function; a macro.
static inline unsigned int
CGnuTLS_any_message (void)
{
  return GNUTLS_HANDSHAKE_ANY;
}

/// The flags of a client session that does not block and raises no signal; they are macros.
static inline unsigned int
CGnuTLS_client_flags (void)
{
  return GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
}
