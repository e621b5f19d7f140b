/* #embed keeps compile times short: a Swift array literal of the same size takes minutes in a debug build. */
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "contract.h"

static const unsigned char openapi_yaml[] = {
#embed "openapi.yaml"
};

const unsigned char *contract_bytes(void) { return openapi_yaml; }

size_t contract_length(void) { return sizeof openapi_yaml; }
