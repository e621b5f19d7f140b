// What the build knows about its source.
#pragma once

// The commit (REACHD_COMMIT in the environment of the build), or "unknown".
const char *CBuildInfo_commit(void);
