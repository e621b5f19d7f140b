internal import EventStreams
public import EmbeddedHTTPServer
internal import HTTPRouting

extension MetricCollector {
  /// Returns the metrics of the HTTP servers, by address.
  public static func servers(
    _ servers: @escaping @Sendable () -> [(address: String, counters: HTTPServer.Counters)]
  ) -> MetricCollector {
    MetricCollector { page in
      let servers = servers()
      func add(
        _ name: String, _ kind: MetricExposition.Kind, _ help: String, _ value: (HTTPServer.Counters) -> Int
      ) {
        page.add(name, kind, help, servers.map { .init(Double(value($0.counters)), ["listener": $0.address]) })
      }
      add("reachd_http_connections", .gauge, "Connections open now.", \.connections)
      add("reachd_http_connections_accepted_total", .counter, "Connections accepted.", \.accepted)
      add("reachd_http_heads_total", .counter, "Request heads received, refused ones included.", \.requests)
      add("reachd_http_refused_total", .counter, "Requests refused because of their syntax or size.", \.refused)
      add("reachd_http_overloaded_total", .counter, "Requests answered 503 or 429 because of a limit.", \.overloaded)
      add("reachd_http_expired_total", .counter, "Connections closed for an unfinished request.", \.expired)
      add("reachd_http_displaced_total", .counter, "Connections ended to make room for others.", \.displaced)
      add("reachd_http_memory_bytes", .gauge, "Bytes of memory that connections are charged with.", \.memory)
      add("reachd_http_memory_limit_bytes", .gauge, "Bytes of memory that connections may use.", \.memoryLimit)
      add("reachd_http_body_bytes_total", .counter, "Bytes of bodies and streams that were sent.", \.bodyBytes)
      add("reachd_http_waiting_requests", .gauge, "Long polls waiting now.", \.waiting)
      add("reachd_streams", .gauge, "Event streams open now.", \.streams)
      add("reachd_streams_opened_total", .counter, "Event streams opened.", \.streamsOpened)
      add("reachd_streams_lagged_total", .counter, "Event streams closed for a slow client.", \.streamsLagged)
      add("reachd_streams_gone_total", .counter, "Event streams closed by the client.", \.streamsGone)
    }
  }

  static func build(_ version: String, _ commit: String) -> MetricCollector {
    MetricCollector { page in
      page.add(
        "reachd_build_info", .gauge, "Always 1; the labels contain the version and the commit.",
        [.init(1, ["version": version, "commit": commit])])
    }
  }

  /// Returns the occupancy of the log that streams resume from.
  static func log(_ log: EventLog) -> MetricCollector {
    MetricCollector { page in
      let room = log.occupancy
      page.add("reachd_event_log_events", .gauge, "Events that a stream can resume from.", room.entries)
      page.add("reachd_event_log_capacity_events", .gauge, "Capacity of the event log in events.", room.entryCapacity)
      page.add("reachd_event_log_bytes", .gauge, "Bytes of these events.", room.bytes)
      page.add("reachd_event_log_capacity_bytes", .gauge, "Capacity of the event log in bytes.", room.byteCapacity)
      page.add("reachd_event_log_events_total", .counter, "Events appended since the start.", room.appended)
    }
  }

  /// Returns the numbers of responses.
  static func requests(_ counters: RequestCounters) -> MetricCollector {
    MetricCollector { page in
      page.add(
        "reachd_http_requests_total", .counter,
        "Responses by route, method and status; `none` is no route. Streams are counted when they start.",
        counters.all.map { kind, count in
          .init(
            Double(count),
            ["route": kind.route.isEmpty ? "none" : kind.route, "method": kind.method, "code": String(kind.status)])
        })
    }
  }

  static func documents(_ queue: DocumentQueue) -> MetricCollector {
    MetricCollector { page in
      let counts = queue.counts
      page.add("reachd_documents_waiting", .gauge, "Requests for documents of all targets that wait.", counts.waiting)
      page.add("reachd_documents_made_total", .counter, "Documents of all targets that were made.", counts.made)
      page.add(
        "reachd_documents_refused_total", .counter, "Requests for documents of all targets answered 503.",
        counts.refused)
    }
  }
}
