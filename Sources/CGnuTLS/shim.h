// GnuTLS: digests, random bytes and comparing without telling (gnutls_hash_fast, gnutls_rnd, gnutls_memcmp); sessions,
// certificates and their keys.
#pragma once
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/// The function as libmicrohttpd's untyped options take it.
static inline void *
CGnuTLS_certificate_callback (gnutls_certificate_retrieve_function3 *callback)
{
  return (void *) callback;
}

/// gnutls_free is a variable that holds a function, which Swift's rules of concurrency keep out of reach.
static inline void
CGnuTLS_free (void *memory)
{
  gnutls_free (memory);
}

/// A client's session that does not block and raises no signal (a macro).
static inline unsigned int
CGnuTLS_client_flags (void)
{
  return GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
}
