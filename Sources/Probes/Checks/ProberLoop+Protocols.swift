internal import Glibc
internal import ReachabilityModel

extension ProberLoop {
  /// The protocol's part of a check; nil for one that there is no prober for.
  func exchange(_ check: Check, _ peer: Peer) -> (any Exchange)? {
    switch check.request.module.recipe {
    case .tcp(let recipe): TCPExchange(check, peer, recipe, self)
    case .icmp(let recipe): EchoExchange(check, peer, recipe, self)
    case .http(let recipe): HTTPExchange(check, peer, recipe, self)
    case .tls(let recipe): credentials.map { TLSExchange(check, peer, recipe, $0, self) }
    case .dns(let recipe): DNSExchange(check, peer, recipe, self)
    case .route: nil
    }
  }

  /// The ICMP socket of a family: the one that was opened with the prober, or one that can be opened by now.
  func echoSocket(ipv6: Bool) throws(SocketFailure) -> EchoSocket {
    if let known = ipv6 ? echoSocket6 : echoSocket4 { return known }
    var opened = inbox.takeEchoSocket(ipv6: ipv6)
    if opened.descriptor == nil { opened = EchoSocket.open(ipv6: ipv6) }
    guard let socket = EchoSocket(opened, ipv6: ipv6, self) else {
      if case .refused(let code) = opened { throw .immediate(code) }
      throw .immediate(EMFILE)
    }
    if ipv6 { echoSocket6 = socket } else { echoSocket4 = socket }
    return socket
  }

  /// Sends the echo requests of this round.
  func flushEchoes() {
    echoSocket4?.flush()
    echoSocket6?.flush()
  }
}
