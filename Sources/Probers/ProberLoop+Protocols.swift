internal import Glibc
internal import ReachabilityModel

extension ProberLoop {
  /// The exchange for a check's protocol; nil for a protocol without a prober.
  func exchange(_ check: ProberCheck) -> (any ProberExchange)? {
    let options = check.request.module.options.value
    if let dialogue = options.dialogue { return TCPExchange(check, dialogue, self) }
    return (options as? any ProberOptions)?.exchange(check, self)
  }

  /// The ICMP socket of a family: the one that was opened with the prober, or a new one.
  func echoSocket(ipv6: Bool) throws(SocketFailure) -> ICMPEchoSocket {
    if let known = ipv6 ? echoSocket6 : echoSocket4 { return known }
    var opened = inbox.takeEchoSocket(ipv6: ipv6)
    if opened.descriptor == nil { opened = ICMPEchoSocket.open(ipv6: ipv6) }
    guard let socket = ICMPEchoSocket(opened, ipv6: ipv6, self) else {
      if case .refused(let code) = opened { throw .immediate(code) }
      throw .immediate(EMFILE)
    }
    if ipv6 { echoSocket6 = socket } else { echoSocket4 = socket }
    return socket
  }

  /// Sends the echo requests of this iteration.
  func flushEchoes() {
    echoSocket4?.flush()
    echoSocket6?.flush()
  }
}
