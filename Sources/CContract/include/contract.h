/* The contract of the HTTP interface, openapi.yaml, embedded into the program by the compiler (C23 #embed). */
#ifndef REACHD_CONTRACT_H
#define REACHD_CONTRACT_H

#include <stddef.h>

/* The bytes of the document, which are not terminated. */
const unsigned char *contract_bytes(void);

/* The number of the bytes. */
size_t contract_length(void);

#endif
