#include "CNetlink.h"
