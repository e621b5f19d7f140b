// The client library of NATS (https://nats-io.github.io/nats.c/).
#pragma once
#include <nats/nats.h>
#include <stdint.h>

// The library's callbacks take a pointer, which it never reads: here it is a number, so that a callback that runs late
// finds no object instead of a freed one.
static inline void *CNATS_closure(uintptr_t number) { return (void *)number; }
