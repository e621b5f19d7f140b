// c-ares, and what Swift's Glibc module does not declare: the error queue of a socket (ip(7), IP_RECVERR).
#pragma once
#include <ares.h>
#include <netdb.h>

enum { cares_ip_recverr = 11, cares_ipv6_recverr = 25, cares_errqueue = 0x2000 };

// The statuses as int, which all functions and callbacks use: they are macros in c-ares 1.18, and an enumeration since 1.22,
// which Swift imports as a type of its own.
static const int cares_success = ARES_SUCCESS;
static const int cares_bad_name = ARES_EBADNAME;
static const int cares_no_data = ARES_ENODATA;
static const int cares_not_found = ARES_ENOTFOUND;
static const int cares_timeout = ARES_ETIMEOUT;
static const int cares_refused = ARES_ECONNREFUSED;

// Whether c-ares reads the zones of servers (fe80::53%eth0), as 1.34 does and 1.18 does not.
// A function, because the compiler warns of code that a constant excludes.
static inline int cares_reads_zones(void) { return ARES_VERSION >= 0x011800; }

// Switches off the cache of answers that c-ares has since 1.31: the answers of an earlier network would be returned, and the
// users of this library have caches of their own. Returns the bits for the mask of ares_init_options.
static inline int cares_set_no_cache(struct ares_options *options) {
#ifdef ARES_OPT_QUERY_CACHE
  options->qcache_max_ttl = 0;
  return ARES_OPT_QUERY_CACHE;
#else
  (void)options;
  return 0;
#endif
}

// c-ares 1.34 declares these as deprecated; 1.18 does not have their replacements ares_get_servers_csv (1.24),
// ares_set_socket_functions_ex (1.34) and ares_dns_record_create (1.22).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline int cares_get_servers(ares_channel channel, struct ares_addr_port_node **servers) {
  return ares_get_servers_ports(channel, servers);
}

static inline void cares_set_socket_functions(
    ares_channel channel, const struct ares_socket_functions *functions, void *context) {
  ares_set_socket_functions(channel, functions, context);
}

static inline int cares_create_query(
    const char *name, int type, unsigned short number, int recursion, unsigned char **buffer, int *length) {
  return ares_create_query(name, 1, type, number, recursion, buffer, length, 0);
}
#pragma GCC diagnostic pop
