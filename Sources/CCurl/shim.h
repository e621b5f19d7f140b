// libcurl, and static inlines for its variadic setters, which Swift does not import.
#pragma once
#include <curl/curl.h>

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

typedef size_t (*ccurl_write_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_write_callback(CURL *handle, ccurl_write_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, callback);
}

static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO key, long *value) {
  return curl_easy_getinfo(handle, key, value);
}

static inline CURLcode ccurl_get_string(CURL *handle, CURLINFO key, const char **value) {
  return curl_easy_getinfo(handle, key, value);
}
