#include "CBuildInfo.h"

#ifndef REACHD_COMMIT
#define REACHD_COMMIT "unknown"
#endif

const char *CBuildInfo_commit(void) { return REACHD_COMMIT; }
