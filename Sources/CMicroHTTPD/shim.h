// What Swift cannot reach by itself in libmicrohttpd: variadic functions, and the epoll calls that Glibc's module lacks.
#pragma once
#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
