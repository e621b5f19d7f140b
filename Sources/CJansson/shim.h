// jansson as it is.
#pragma once
#include <jansson.h>
