// The kernel's rtnetlink headers, for Swift: Glibc's module has no sockaddr_nl, and the NLMSG_/RTA_ macros are not imported.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/fib_rules.h>
#include <linux/nexthop.h>
#include <linux/netconf.h>
