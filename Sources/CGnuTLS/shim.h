// GnuTLS: digests, random bytes and comparing without telling (gnutls_hash_fast, gnutls_rnd, gnutls_memcmp); sessions and
// certificates.
#pragma once
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
