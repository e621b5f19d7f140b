// The lower bound of libmicrohttpd: one prepared response to every GET, from its internal epoll thread.
// baseline BODY-FILE HEADER… PORT, each header as `Name: value`.
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct MHD_Response *response;
static int seen;

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request) {
  (void)context, (void)url, (void)method, (void)version, (void)upload, (void)upload_size;
  if (!*request) {
    *request = &seen;
    return MHD_YES;
  }
  return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

int main(int argc, char **argv) {
  static char body[1 << 16];
  FILE *file = argc > 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return 64;
  size_t size = fread(body, 1, sizeof body, file);
  response = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_PERSISTENT);
  for (int i = 2; i < argc - 1; i++) {
    char *value = strstr(argv[i], ": ");
    if (!value) return 64;
    *value = 0;
    MHD_add_response_header(response, argv[i], value + 2);
  }
  if (!MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TURBO, (uint16_t)atoi(argv[argc - 1]), NULL, NULL, answer,
                        NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)8192, MHD_OPTION_END))
    return 1;
  for (;;) pause();
}
