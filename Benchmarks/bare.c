// The lower bound of fan-out: the body of each POST is sent to every open stream with one send(2). There is no epoll
// registration per stream, no history, no handling of slow readers and no heartbeat.
// bare PORT: GET opens a stream, POST is an event. One thread.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { most = 20000 };

static int streams[most], count;

static void deliver(int publisher, const char *body, size_t size) {
  static const char done[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
  for (int i = 0; i < count; i++) send(streams[i], body, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  send(publisher, done, sizeof done - 1, MSG_NOSIGNAL);
}

// Reads POST requests until their sender closes the connection.
static void take_events(int publisher, char *buffer, size_t room, ssize_t got) {
  for (; got > 0; got = recv(publisher, buffer, room - 1, 0)) {
    buffer[got] = 0;
    char *body = strstr(buffer, "\r\n\r\n"), *length = strstr(buffer, "Content-Length: ");
    if (!body || !length) continue;
    size_t size = (size_t)atoi(length + 16), have = (size_t)(buffer + got - (body += 4));
    while (have < size) {
      ssize_t more = recv(publisher, body + have, size - have, 0);
      if (more <= 0) return;
      have += (size_t)more;
    }
    deliver(publisher, body, size);
  }
}

int main(int argc, char **argv) {
  static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  static char buffer[1 << 16];
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 0))};
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, room = 32 * 1024;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(server, (struct sockaddr *)&own, sizeof own) || listen(server, 4096)) {
    perror("bare");
    return 1;
  }
  for (int client; (client = accept(server, 0, 0)) >= 0;) {
    ssize_t got = recv(client, buffer, sizeof buffer - 1, 0);
    if (got > 4 && !memcmp(buffer, "GET ", 4) && count < most) {
      setsockopt(client, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      send(client, head, sizeof head - 1, MSG_NOSIGNAL);
      streams[count++] = client;
      continue;
    }
    if (got > 0) take_events(client, buffer, sizeof buffer, got);
    close(client);
  }
}
