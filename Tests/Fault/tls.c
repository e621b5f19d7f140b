// Preloaded into the program under test: libcurl describes itself as Debian's build with OpenSSL does.
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>

static void *other(const char *name) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name) : 0;
  if (!symbol) abort();
  return symbol;
}

CURLsslset curl_global_sslset(curl_sslbackend id, const char *name, const curl_ssl_backend ***available) {
  return ((CURLsslset(*)(curl_sslbackend, const char *, const curl_ssl_backend ***))other("curl_global_sslset"))(
      id, name, available);
}

curl_version_info_data *curl_version_info(CURLversion age) {
  return ((curl_version_info_data * (*)(CURLversion)) other("curl_version_info"))(age);
}
