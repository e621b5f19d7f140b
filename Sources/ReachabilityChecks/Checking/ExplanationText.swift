internal import ReachabilityModel

/// The sentences of an ``Explanation``: the one place to translate.
struct ExplanationText {
  let outcome: CheckOutcome
  let path: NetworkPath
  /// The way whose interface and source stand for this machine's where the target has none.
  let machine: NetworkPath

  private var result: ProbeResult { outcome.result }
  private var target: ProbeTarget { outcome.request.target }
  private var interface: String { path.interface?.name ?? outcome.request.interface ?? "no interface" }

  /// The address and port that were asked, as they are dialled.
  private var peer: String {
    guard let address = result.address else { return target.host.host }
    guard let port = target.port else { return address.description }
    return address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }

  // MARK: - What holds

  /// The evidence that a rung holds; nil where nothing shows it.
  func success(_ rung: Explanation.Rung) -> String? {
    switch rung {
    case .policy: "allowed"
    case .link: way.interface.map { "\($0.name) is up" }
    case .address:
      way.interface.map { interface in way.source.map { "\($0) on \(interface.name)" } ?? "none is needed" }
    case .route: route
    case .dns: result.address.map { "\(target.host.host) is \($0)\(after(.resolve))" } ?? "\(target.host.host) is known"
    case .icmp: echoes
    case .tcp: "\(peer) accepts connections\(after(.connect))"
    case .tls: session
    case .answer: answer
    }
  }

  /// The target's own way, or this machine's where it has none.
  private var way: NetworkPath { path.interface == nil && outcome.request.interface == nil ? machine : path }

  private var route: String {
    if path.flags.contains(.isLocalAddress) { return "the target is this machine" }
    let block = path.prefix.map { $0.length == 0 ? "the default route" : "\($0)" } ?? "the default route"
    let next = path.gateway.map { " via \($0)" } ?? " on the link"
    return "\(block)\(next), by \(interface)"
  }

  private var echoes: String {
    guard let icmp = result.evidence.icmp else { return "it answers\(after(.rtt))" }
    return "\(icmp.received) of \(icmp.sent) echoes came back\(after(.rtt))"
  }

  private var session: String {
    guard let tls = result.evidence.tls else { return "the handshake is done\(after(.tls))" }
    let expiry = tls.earliestExpiry.map { ", good until \($0.day)" } ?? ""
    return "\(tls.version)\(expiry)\(after(.tls))"
  }

  private var answer: String {
    if let http = result.evidence.http { return "status \(http.status)\(after(.processing))" }
    if let dns = result.evidence.dns { return "\(dns.code) with \(dns.answers.count) answers\(after(.processing))" }
    return "as expected\(after(.processing))"
  }

  private func after(_ phase: ProbeResult.Phase.Name) -> String {
    result.duration(of: phase).map { " (\($0.inMilliseconds) ms)" } ?? ""
  }

  /// What ip(8) is to be asked.
  private var question: String {
    var words = [result.address?.description ?? target.host.host]
    if let source = outcome.request.source { words += ["from", source.description] }
    if let interface = outcome.request.interface { words += ["oif", interface] }
    return words.joined(separator: " ")
  }

  // MARK: - What does not

  /// The evidence that a rung fails: what was seen, then the prober's own words.
  func failure(_ rung: Explanation.Rung) -> String {
    let seen = "\(rung == .link || rung == .address ? interface : peer): \(result.reason?.rawValue ?? "unknown")"
    return result.detail.map { "\(seen), \($0)" } ?? seen
  }

  /// What to try next; nil where there is nothing to say.
  var advice: String? {
    guard let reason = result.reason else { return nil }
    return wayAdvice(reason) ?? nameAdvice(reason) ?? peerAdvice(reason)
  }

  private func wayAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .linkDown: "Check the cable, the switch port or the radio; ip link show \(interface) tells its carrier."
    case .connectionRequired: "The link is dormant: bring the connection up first (Wi-Fi, modem, 802.1X)."
    case .interventionRequired: "A person must bring the connection up: a PIN, a key or a login is missing."
    case .unknownInterface: "There is no interface \(interface) now; ip link lists what there is."
    case .noSource: "No own address can send there: ip address tells what is missing; is DHCP or RA running?"
    case .noRoute where outcome.request.interface != nil:
      "No route through \(interface) covers the target: ip route show table all dev \(interface) tells which there are."
    case .noRoute:
      "No route covers the target: ip route get \(question) repeats it."
    case .networkUnreachable:
      "This machine or a router on the way says that it knows no way: compare the routes of both."
    case .unreachableRoute, .blackhole:
      "A route forbids it on purpose: ip route show type unreachable, or type blackhole."
    case .prohibited:
      "A rule, route or firewall forbids it: see ip rule, ip route and nft list ruleset, here and there."
    default: nil
    }
  }

  private func nameAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .dnsNotFound: "The name does not exist: check its spelling, the search domains and the zone."
    case .dnsServerFailure: "The name servers fail: ask each of /etc/resolv.conf itself, and see their own logs."
    case .dnsTimeout: "The name servers are silent: can they be reached? reachd check icmp:// each of them."
    default: nil
    }
  }

  private func peerAdvice(_ reason: Reason) -> String? {
    switch reason {
    case .policyDenied:
      "The policy does not let callers contact this target; policy.allow in the configuration opens it."
    case .hostUnreachable: "Nobody answers for the address on its link: is the host switched on and in this network?"
    case .refused: "The host lives but nothing listens on the port, or a firewall rejects: ss -ltn there tells which."
    case .connectTimeout: "No answer at all: the host is off, or a firewall drops; does icmp:// answer?"
    case .reset: "The peer broke off: a crash, a limit, or another protocol than expected; see its log."
    case .tlsHandshake:
      "The peer speaks no TLS that we accept here: is this the right port? which versions does it offer?"
    case .certificateExpired: "Renew the certificate, or mend the clock of either side."
    case .certificateUntrusted:
      "The chain ends at nobody we trust: send the intermediates, or name the authority in the module."
    case .certificateNameMismatch: "The certificate is for other names: ask by one of them, or have it reissued."
    case .httpStatus: "It answers with another status than expected: see its log; is the path right?"
    case .httpBody: "It answers, but not what was expected: see the module's expectations."
    case .noReply: "It takes the request and does not answer as expected: see its log and load."
    case .packetLoss: "Some packets are lost on the way: look for a full or bad link, router by router."
    case .slow: "It answers too slowly: compare with earlier round trips and with its neighbours."
    case .timeout: "It did not finish in time: raise the timeout, or see what keeps the peer busy."
    default: nil
    }
  }
}

extension Timestamp {
  /// The date alone.
  fileprivate var day: Substring { description.prefix(10) }
}
