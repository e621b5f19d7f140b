internal import ReachabilityModel

/// Echo requests to the addresses of a host: the address of the first reply is evaluated.
final class ICMPEchoExchange: ProberExchange, AddressConnectorOwner {
  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private let options: ICMPOptions
  private lazy var connector = AddressConnector(check, check.candidates, loop, for: self)

  init(_ check: ProberCheck, _ options: ICMPOptions, _ loop: ProberLoop) {
    self.check = check
    self.options = options
    self.loop = loop
  }

  func begin() { connector.begin() }

  func resume() { connector.resume() }

  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt {
    ICMPEchoSequence(check, peer, options, loop, connector)
  }

  /// The sequence continues, and ends the check itself.
  func contacted(_ attempt: any AddressAttempt) {}

  func awake() { connector.awake() }

  func overdue() -> ProberResult { connector.overdue() }

  func end() { connector.end() }
}

extension ICMPOptions: ProberOptions {
  func exchange(_ check: ProberCheck, _ loop: ProberLoop) -> (any ProberExchange)? {
    ICMPEchoExchange(check, self, loop)
  }
}
