internal import NetworkReachability
internal import ReachabilityModel

// What the kernel says about the way of a check: at a glance for what is sent, surely for what has failed.
extension Checker {
  /// The way to the address that was asked; where there was none, to the last known ones, or to the host as such when its
  /// name could not be asked for at all.
  func judge(
    _ way: ReachabilityTarget, after result: ProbeResult, _ completion: @escaping @Sendable (HostVerdict?) -> Void
  ) {
    if let address = result.address {
      return monitor.judge(at(address, on: way)) { completion(try? $0.get()) }
    }
    // That there is no such name is an answer: somebody was reached.
    guard result.reason != .dnsNotFound else { return completion(nil) }
    if let known = monitor.verdict(of: way), known.phase == .resolved, !known.addresses.isEmpty {
      return monitor.judge(way, resolution: .addresses(known.addresses.map(\.address))) { completion(try? $0.get()) }
    }
    monitor.judge(way) { [monitor] answer in
      let verdict = try? answer.get()
      completion(verdict.flatMap { CheckRules.isWayMissing($0, monitor.reachesNameServer) ? $0 : nil })
    }
  }

  /// The way of a packet that is sent this instant; on the prober's thread, which waits for nobody while the monitor runs.
  func look(at address: IPAddress, on way: ReachabilityTarget) -> Glance? {
    let way = at(address, on: way)
    if let glance = monitor.glance(at: way) { return glance }
    return (try? monitor.evaluate(way)).map(CheckRules.glance)
  }

  private func at(_ address: IPAddress, on way: ReachabilityTarget) -> ReachabilityTarget {
    var way = way
    way.remote = .address(address)
    return way
  }

  /// A `route` target: the kernel's answer is the check.
  func judge(_ way: ReachabilityTarget, for run: CheckRun, _ start: Beginning) {
    let judge: @Sendable (NameResolution) -> Void = { [self] resolution in
      monitor.judge(way, resolution: resolution) { [self] answer in
        guard let verdict = try? answer.get() else {
          let result = ProbeResult(.unknown, .kernelUnavailable, startedAt: start.time, duration: start.elapsed)
          return finish(run, result, nil)
        }
        finish(run, CheckRules.result(of: verdict, startedAt: start.time, duration: start.elapsed), verdict.path)
      }
    }
    guard case .name(let name) = way.remote else { return judge(.pending) }
    monitor.resolve(name, in: names, timeout: run.request.timeout, judge)
  }
}
