import Glibc
import Locks
import HostResolver
import Probers
import ReachabilityModel

/// Checks every target of standard input concurrently, and prints time and CPU use as one line of JSON.
@main enum Sweep {
  static func main() {
    var targets: [CheckTarget] = []
    while let line = readLine() {
      guard let target = try? CheckTarget(line) else {
        print("no target: \(line)")
        exit(64)
      }
      targets.append(target)
    }
    let resolver = Resolver()
    let prober = SocketProber(resolver: resolver)
    // The first check starts the thread and is not counted.
    sweep(Array(targets.prefix(1)), prober)
    let processor = processorTime()
    let begin = ContinuousClock.now
    let results = sweep(targets, prober)
    let wall = begin.duration(to: .now)
    let used = processorTime() - processor
    let up = results.filter { $0.state == .up }
    let trips = up.compactMap { $0.duration(of: .rtt) ?? $0.duration(of: .connect) }.sorted()
    let median = trips.isEmpty ? Duration.zero : trips[trips.count / 2]
    print(
      "{\"checks\": \(results.count), \"up\": \(up.count), \"wallSeconds\": \(seconds(wall)), "
        + "\"cpuSeconds\": \(seconds(used)), \"medianTripSeconds\": \(seconds(median))}")
    prober.stop()
    resolver.stop()
  }

  @discardableResult
  private static func sweep(_ targets: [CheckTarget], _ prober: SocketProber) -> [CheckResult] {
    guard !targets.isEmpty else { return [] }
    let results = Locked<[CheckResult]>([])
    // The cost of storing the results is not measured.
    results.withLock { $0.reserveCapacity(targets.count) }
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { exit(71) }
    let writing = ends[1]
    for target in targets {
      prober.check(CheckRequest(target)) { result in
        let isLast = results.withLock {
          $0.append(result)
          return $0.count == targets.count
        }
        if isLast { _ = unsafe write(writing, "!", 1) }
      }
    }
    var byte: UInt8 = 0
    _ = unsafe read(ends[0], &byte, 1)
    for end in ends { close(end) }
    return results.withLock { $0 }
  }

  private static func processorTime() -> Duration {
    var moment = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment)
    return .seconds(moment.tv_sec) + .nanoseconds(moment.tv_nsec)
  }

  private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}
