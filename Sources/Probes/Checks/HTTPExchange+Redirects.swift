internal import ReachabilityModel

// Redirects: each is a target of its own, judged and connected like the first.
extension HTTPExchange {
  /// Goes where the answer leads, if that is a host that may be contacted, and no step back from TLS.
  func follow(_ location: String) {
    endTransfer()
    redirects += 1
    let next: ProbeTarget
    do throws(TargetError) {
      next = try ProbeTarget(String(location.prefix { $0 != "#" }))
    } catch {
      return loop.conclude(check, Finding(.down, .httpStatus, detail: "the redirect leads nowhere: \(error.problem)"))
    }
    guard next.scheme == target.scheme || next.scheme == .https else {
      return loop.conclude(
        check,
        Finding(.down, .httpStatus, detail: "the redirect leads from \(target.scheme.rawValue) to another scheme"))
    }
    target = next
    answer = HTTPAnswer(recipe)
    switch next.host.remote {
    case .address(let address): connect([Peer(address: address, port: next.port ?? 0)])
    case .name(let name):
      step = .resolving
      begun = .now
      resolution = loop.resolve(name, for: check)
    case .defaultPath, .localLink: loop.conclude(check, .denied)
    }
  }

  /// The resolver's answer for a redirect's name.
  func resolved(_ outcome: Result<[Peer], Finding>) {
    guard step == .resolving else { return }
    resolution = nil
    check.add(.resolve, begun.duration(to: .now))
    switch outcome {
    case .success(let peers):
      connect(peers.map { Peer(address: $0.address, port: target.port ?? 0, scope: $0.scope) })
    case .failure(let finding): loop.conclude(check, finding)
    }
  }

  private func connect(_ peers: [Peer]) {
    switch check.request.choose(peers) {
    case .failure(let finding): loop.conclude(check, finding)
    case .success(let chosen):
      guard let first = chosen.first else { return }
      peer = first
      check.peer = first
      begin()
    }
  }
}
