import Glibc
import Locks
import Logging
import Netlink
import NetworkReachability

/// A monitor of the real kernel with a number of watched targets.
///
/// On `end` at standard input it prints one line for each
/// reading: the times of its first event, its end, its evaluation and its publication, in nanoseconds.
final class Watching: ReevaluationObserver {
  struct Line {
    var receivedAt: Int64 = 0
    var read: Int64
    var judged: Int64 = 0
    var told: Int64 = 0
  }

  private let lines = Locked<[Line]>([])
  private let count: Int

  init(targets: Int) { count = targets }

  /// Addresses from 198.18.0.0/15 (RFC 2544) on, spread over /24 blocks.
  private var targets: [ReachabilityTarget] {
    (0..<UInt32(count)).map {
      ReachabilityTarget(.address(IPAddress(ipv4: 0xc612_0000 &+ ($0 % 256) << 9 &+ $0 / 256)))
    }
  }

  func run() throws {
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero)) { [self] in
      TimedSource(NetlinkSource(logger: Logger(label: "benchmark")), self)
    }
    monitor.attach(self)
    let direct = DeliveryContext { $0() }
    let subscription = count > 0 ? monitor.listen(to: .host, watching: targets, on: direct) { _ in } : nil
    try monitor.start()
    print("ready")
    fflush(nil)
    while let command = readLine() {
      switch command {
      case "begin": lines.withLock { $0 = [] }
      case "end": report()
      // Whether a target is reachable, as published.
      default:
        print(
          monitor.verdict(of: ReachabilityTarget(.address(IPAddress(command) ?? IPAddress(ipv4: 0))))?.path.status.name
            ?? "none")
      }
      fflush(nil)
    }
    subscription?.cancel()
    monitor.stop()
  }

  private func report() {
    for line in lines.withLock(\.self) { print(line.receivedAt, line.read, line.judged, line.told) }
    print("end")
  }

  func read() {
    let time = now()
    lines.withLock { $0.append(Line(read: time)) }
  }

  func didReevaluate(_ reevaluation: Reevaluation) {
    let time = now()
    lines.withLock { lines in
      if let last = lines.indices.last { lines[last].judged = time }
    }
  }

  func told(_ reading: KernelReading) {
    let time = now()
    // Received by the monotonic clock; recorded by the clock of `ip -ts`.
    let sinceHeard = reading.receivedAt.map { (KernelClock.uptime - $0) / .nanoseconds(1) }
    lines.withLock { lines in
      guard let last = lines.indices.last else { return }
      lines[last].told = time
      if let sinceHeard { lines[last].receivedAt = time - Int64(sinceHeard) }
    }
  }
}

/// A source that records the times of the calls of its observer.
private final class TimedSource: KernelSource {
  private let inner: NetlinkSource
  private let watching: Watching

  init(_ inner: NetlinkSource, _ watching: Watching) { (self.inner, self.watching) = (inner, watching) }

  var timeSinceProgress: Duration { inner.timeSinceProgress }
  func start(_ observer: any KernelObserver) throws(KernelError) { try inner.start(TimedObserver(observer, watching)) }
  func refresh() { inner.refresh() }
  func stop() { inner.stop() }
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { try inner.lookUp(queries) }
}

private final class TimedObserver: KernelObserver {
  private let inner: any KernelObserver
  private let watching: Watching

  init(_ inner: any KernelObserver, _ watching: Watching) { (self.inner, self.watching) = (inner, watching) }

  func needsRouteBlocks(for survey: KernelSurvey) -> Bool {
    // The first call after the source has drained its socket, and after barrier and tables if needed.
    watching.read()
    return inner.needsRouteBlocks(for: survey)
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { inner.routeQueries(for: survey) }
  func differences(in audit: KernelReading) -> Int { inner.differences(in: audit) }

  func ingest(_ reading: KernelReading) -> Duration? {
    let deadline = inner.ingest(reading)
    watching.told(reading)
    return deadline
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) { inner.kernelFailed(error, at: time) }
}
