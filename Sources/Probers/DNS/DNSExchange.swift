internal import ReachabilityModel

/// A query to the addresses of a DNS server, and the evaluation of the first response.
final class DNSExchange: ProberExchange, AddressConnectorOwner {
  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private let options: DNSOptions
  private lazy var connector = AddressConnector(check, check.candidates, loop, for: self)

  init(_ check: ProberCheck, _ options: DNSOptions, _ loop: ProberLoop) {
    self.check = check
    self.options = options
    self.loop = loop
  }

  func begin() { connector.begin() }

  func resume() { connector.resume() }

  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt {
    DNSQueryAttempt(check, peer, options, loop, connector, for: self)
  }

  /// The attempt continues, and passes its response to ``judge(_:)``.
  func contacted(_ attempt: any AddressAttempt) {}

  func awake() { connector.awake() }

  func judge(_ reply: DNSResponse) {
    check.evidence.dns = CheckResult.DNS(
      code: reply.code, counts: reply.counts, answers: Array(reply.answers.prefix(Limits.dnsAnswersReported)))
    let expected = options.expectCodes.isEmpty ? ["NOERROR"] : options.expectCodes
    guard expected.contains(reply.code) else {
      let reason: Reason = reply.code == "NXDOMAIN" ? .dnsNotFound : .dnsServerFailure
      let message = expected.joined(separator: " or ")
      return loop.conclude(
        check, ProberResult(.down, reason, detail: "the answer is \(reply.code), not \(message)"))
    }
    guard let text = options.expectAnswer else { return loop.conclude(check, .up) }
    do throws(ProberPatternError) {
      let pattern = try loop.shared.patterns.pattern(text)
      let isThere = try pattern.matches(anyOf: reply.answers + reply.joinedTexts)
      let message = "none of \(reply.answers.count) answers matches the expectation"
      loop.conclude(check, isThere ? .up : ProberResult(.down, .noReply, detail: message))
    } catch {
      loop.conclude(check, error.finding)
    }
  }

  func overdue() -> ProberResult { connector.overdue() }

  func end() { connector.end() }
}

extension DNSOptions: ProberOptions {
  func exchange(_ check: ProberCheck, _ loop: ProberLoop) -> (any ProberExchange)? {
    DNSExchange(check, self, loop)
  }
}
