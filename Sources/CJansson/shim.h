// jansson without additions.
#pragma once
#include <jansson.h>
