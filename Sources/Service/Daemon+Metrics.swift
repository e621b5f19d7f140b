internal import HostProcess
internal import EmbeddedHTTPServer
internal import StatusAPI

extension MetricCollector {
  /// The resources of the process, with the metric names of the Prometheus client libraries.
  static func process() -> MetricCollector {
    let start = ProcessUsage.startTime
    return MetricCollector { page in
      let usage = ProcessUsage.current
      page.add(
        "process_cpu_seconds_total", .counter, "CPU time spent, in seconds.", [.init(usage.processorSeconds)])
      if let bytes = usage.residentBytes {
        page.add("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.", bytes)
      }
      if let descriptors = usage.openDescriptors {
        page.add("process_open_fds", .gauge, "Number of open file descriptors.", descriptors)
      }
      page.add("process_max_fds", .gauge, "Maximum number of open file descriptors.", usage.descriptorLimit)
      if let start {
        page.add("process_start_time_seconds", .gauge, "Start time, in seconds since 1970.", [.init(start)])
      }
    }
  }

  static func daemon(_ servers: [HTTPServer], _ writer: LogWriter) -> MetricCollector {
    let counters = MetricCollector.servers { servers.map { ("\($0.boundAddress)", $0.counters) } }
    return MetricCollector { page in
      counters.write(&page)
      page.add(
        "reachd_log_lines_dropped_total", .counter, "Log lines dropped because standard error was not read.",
        writer.droppedTotal)
    }
  }
}
