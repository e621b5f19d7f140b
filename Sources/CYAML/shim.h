// libyaml without additions.
#pragma once
#include <yaml.h>
