// c-ares, and what Swift's Glibc module does not declare: inotify(7), and the error queue of a socket (ip(7), IP_RECVERR).
#pragma once
#include <ares.h>
#include <netdb.h>
#include <sys/inotify.h>

enum { cares_ip_recverr = 11, cares_ipv6_recverr = 25, cares_errqueue = 0x2000 };
