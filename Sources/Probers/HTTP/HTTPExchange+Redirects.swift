internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

// Redirects: each is a target of its own, judged and connected like the first.
extension HTTPExchange {
  /// Goes where the answer leads, if that is a host that may be contacted, and no step back from TLS.
  func follow(_ location: String, after status: Int) {
    endTransfer()
    redirects += 1
    // What is wrong with it is not told: the words would be the peer's.
    guard let next = try? CheckTarget(Self.encoded(location.prefix { $0 != "#" })) else {
      let message = "the redirect leads nowhere: its Location is no URL that can be asked"
      return loop.conclude(check, Finding(.down, .httpStatus, detail: message))
    }
    guard next.scheme == target.scheme || next.scheme == .https else {
      return loop.conclude(
        check,
        Finding(.down, .httpStatus, detail: "the redirect leads from \(target.scheme.rawValue) to another scheme"))
    }
    guard request.redirect(status, toSameOrigin: next.hasOrigin(of: target)) else {
      let message = "the redirect (\(status)) leads to another server, and the body is for the first one only"
      return loop.conclude(check, Finding(.down, .httpStatus, detail: message))
    }
    // Before the name is resolved: a query would go to a name server that the first server chose.
    guard check.request.moduleVerdict(on: next) != .denied else { return loop.conclude(check, .redirectOutsideHosts) }
    target = next
    answer = HTTPResponseReader(options)
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

  /// Spaces and letters beyond ASCII as %XX, as browsers have them: many servers send them as they are.
  private static func encoded(_ location: Substring) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = location.utf8.flatMap { byte in
      (0x21...0x7e).contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func connect(_ peers: [Peer]) {
    let verdict = check.request.moduleVerdict(on: target)
    let permitted = peers.filter { verdict.allows($0.address) }
    guard !permitted.isEmpty || peers.isEmpty else { return loop.conclude(check, .redirectOutsideHosts) }
    switch check.request.choose(permitted) {
    case .failure(let finding): loop.conclude(check, finding)
    case .success(let allowed):
      let message = "there is no way to any address of the host that the redirect leads to"
      switch check.open(allowed, otherwise: message) {
      case .failure(let finding): loop.conclude(check, finding)
      case .success(let open):
        guard let first = open.first else { return }
        peer = first
        check.peer = first
        begin()
      }
    }
  }
}

extension Finding {
  fileprivate static let redirectOutsideHosts = Finding(
    .down, .httpStatus, detail: "the redirect leads to a host that the hosts of the module do not include")
}

extension CheckTarget {
  /// Whether scheme, host and port are those of another one (RFC 6454 §5).
  fileprivate func hasOrigin(of other: CheckTarget) -> Bool {
    scheme == other.scheme && host.withoutFinalDot.lowercased() == other.host.withoutFinalDot.lowercased()
      && port == other.port
  }
}
