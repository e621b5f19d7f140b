// c-ares as it is, and the epoll calls that Glibc's module lacks.
#pragma once
#include <ares.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
