// libcurl, and static inlines for its variadic setters, which Swift does not import.
#pragma once
#include <curl/curl.h>
