internal import ReachabilityModel

struct DiagnosisText {
  let outcome: CheckOutcome
  let path: NetworkPath
  /// The default path, for the interface and source address when the target has none.
  let machine: NetworkPath
  /// The links that the check could use.
  let links: DiagnosisLinks

  private var result: CheckResult { outcome.result }
  private var server: CheckTarget { outcome.server }
  private var interface: String { path.interface?.name ?? outcome.request.interface ?? "no interface" }

  /// The contacted address and port.
  private var peer: String {
    guard let address = result.address else { return server.host.host }
    guard let port = server.port else { return address.description }
    return address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }

  // MARK: - Passed steps

  /// The evidence that a step passed; nil when there is none.
  func success(_ step: Diagnosis.Step) -> String? {
    switch step {
    case .policy: "allowed"
    // Only registered targets have it, and it is added to their diagnosis.
    case .dependency: nil
    case .link: hasLink ? effectivePath.interface.map { "\($0.name) is up" } ?? links.text : nil
    case .address:
      effectivePath.interface.flatMap { interface in
        effectivePath.source.map { "\($0) on \(interface.name)" } ?? (hasRoute ? "not required" : nil)
      }
    case .route: hasRoute ? route : nil
    case .dns:
      result.address.map { "\(server.host.host) is \($0)\(after(.resolve))" } ?? "\(server.host.host) is resolved"
    case .icmp: summary(result.evidence.icmp, else: "echo reply received", .rtt)
    case .tcp: "\(peer) accepts connections\(after(.connect))"
    case .tls: summary(result.evidence.tls, else: "handshake completed", .tls)
    case .answer:
      // Of a protocol over TLS, the session is reported by its own step.
      summary(result.evidence.all.first { !($0 is CheckResult.TLS) }, else: "as expected", .processing)
    }
  }

  /// The target's path, or this machine's default path when it has none.
  private var effectivePath: NetworkPath { path.interface == nil && outcome.request.interface == nil ? machine : path }

  /// Whether the interface passes packets; a step before a failed one is not passed without it.
  private var hasLink: Bool {
    let missing: [Reason] = [.linkDown, .connectionRequired, .interventionRequired, .unknownInterface]
    return effectivePath.reason.map { !missing.contains($0) } ?? true
  }

  private var hasRoute: Bool { effectivePath.status.isReachable }

  private var route: String {
    let path = effectivePath
    if path.flags.contains(.isLocalAddress) { return "the target is this machine" }
    let block = path.prefix.map { $0.length == 0 ? "the default route" : "\($0)" } ?? "the default route"
    let next = path.gateway.map { " via \($0)" } ?? " on link"
    return "\(block)\(next), dev \(path.interface?.name ?? interface)"
  }

  /// What the protocols of a step have reported.
  private func summary(_ evidence: (any CheckEvidence)?, else text: String, _ phase: CheckResult.Phase.Name) -> String {
    (evidence?.summary ?? text) + after(phase)
  }

  private func after(_ phase: CheckResult.Phase.Name) -> String {
    result.duration(of: phase).map { " (\($0.inMilliseconds) ms)" } ?? ""
  }

  /// The arguments of `ip route get` for the target.
  private var routeArguments: String {
    var words = [result.address?.description ?? server.host.host]
    if let source = outcome.request.source { words += ["from", source.description] }
    if let interface = outcome.request.interface { words += ["oif", interface] }
    return words.joined(separator: " ")
  }

  // MARK: - The failed step

  /// The evidence that a step failed: the reason, then the prober's detail.
  func failure(_ step: Diagnosis.Step) -> String {
    if step == .link, isWithoutLinks { return "no link is up: \(links.downText)" }
    let seen = "\(step == .link || step == .address ? interface : peer): \(result.reason?.rawValue ?? "unknown")"
    return result.detail.map { "\(seen), \($0)" } ?? seen
  }

  /// Whether a route is missing because no link is up.
  private var isWithoutLinks: Bool {
    links.areDown && (result.reason == .noRoute || result.reason == .networkUnreachable)
  }

  /// What to try; nil when there is no advice for the reason.
  var advice: String? {
    guard let reason = result.reason else { return nil }
    if isWithoutLinks { return "Check the cables, the switch ports or the radio; ip link set NAME up enables a link." }
    return routeAdvice(reason) ?? nameAdvice(reason) ?? peerAdvice(reason)
  }

  private func routeAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .linkDown: "Check the cable, the switch port or the radio; ip link show \(interface) shows the carrier."
    case .connectionRequired: "The link is dormant: bring the connection up first (Wi-Fi, modem, 802.1X)."
    case .interventionRequired: "The connection needs a user action: a PIN, a key or a login is missing."
    case .unknownInterface: "Interface \(interface) does not exist; ip link lists the interfaces."
    case .noSource: "No source address is usable: see ip address; is DHCP or IPv6 autoconfiguration running?"
    case .notUnicast: "No connection can be made to a broadcast or multicast address; check one host."
    case .noRoute where outcome.request.interface != nil:
      "No route through \(interface) matches the target: ip route show table all dev \(interface) lists its routes."
    case .noRoute:
      "No route matches the target: see ip route get \(routeArguments)."
    case .networkUnreachable:
      "This machine or a router on the path has no route: compare the routing tables of both."
    case .unreachableRoute, .blackhole:
      "A route rejects the destination on purpose: see ip route show type unreachable and type blackhole."
    case .prohibited:
      "A rule, route or firewall prohibits it: see ip rule, ip route and nft list ruleset on both machines."
    default: nil
    }
  }

  private func nameAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .dnsNotFound: "The name does not exist: check its spelling, the search domains and the zone."
    case .dnsServerFailure: "The name servers fail: query each server of /etc/resolv.conf, and see their logs."
    case .dnsTimeout: "The name servers do not answer: check each of them with reachd check icmp://ADDRESS."
    case .resolverUnavailable:
      "This process has too few descriptors, threads or memory to resolve names: raise its limits."
    default: nil
    }
  }

  private func peerAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .policyDenied:
      "The policy does not let callers contact this target. policy.allow can permit it, unless policy.deny lists it or it is "
        + "reachd's own port."
    case .hostUnreachable: "No host answers for the address on its link: is the host up, and in this network?"
    case .refused: "The host is up but no process listens on the port, or a firewall rejects: see ss -ltn on the host."
    case .connectTimeout: "No answer: the host is down, or a firewall drops the packets; does icmp:// answer?"
    case .reset: "The peer reset the connection: a crash, a limit, or another protocol than expected; see its log."
    case .tlsHandshake:
      "The TLS handshake failed: is this the right port? which versions does the peer offer?"
    case .certificateExpired: "Renew the certificate, or correct the clock of either machine."
    case .certificateUntrusted:
      "The chain has no trusted root: send the intermediate certificates, or configure the CA in the module."
    case .certificateNameMismatch: "The certificate is for other names: use one of them, or reissue the certificate."
    case .httpStatus: "The status is not the expected one: is the URL path right? see the server's log."
    case .httpBody: "The answer does not match the expectations of the module."
    case .bodyTooLong: "The body is longer than bodyLimit of the module: increase it, or check a shorter document."
    case .noReply: "The peer does not answer the request: see its log and load."
    case .packetLoss: "Packets are lost on the path: look for a congested or faulty link, hop by hop."
    case .slow: "The answer is too slow: compare with earlier round-trip times and with other hosts."
    case .timeout: "The check did not finish in time: raise the timeout, or see the load of the peer."
    default: nil
    }
  }
}
