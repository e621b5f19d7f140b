// c-ares, and inotify(7), which Swift's Glibc module does not declare.
#pragma once
#include <ares.h>
#include <netdb.h>
#include <sys/inotify.h>
