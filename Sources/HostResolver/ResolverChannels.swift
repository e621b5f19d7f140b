internal import EventLoop

/// The channels of c-ares, opened when they are needed: one reads the hosts file, one queries the DNS servers.
struct ResolverChannels {
  private let configuration: ResolverConfiguration
  private let poller: Poller
  private var open: (hosts: AresChannel, dns: AresChannel)?
  /// The search list, which is read when the channels are opened.
  private(set) var searchList = ResolverSearchList()
  /// When a DNS server last responded.
  private var lastResponse: MonotonicInstant?

  init(_ configuration: ResolverConfiguration, _ poller: Poller) {
    self.configuration = configuration
    self.poller = poller
  }

  /// Returns the channels.
  mutating func opened() throws(HostResolutionFailure) -> (hosts: AresChannel, dns: AresChannel) {
    if let open { return open }
    let hosts = try AresChannel(
      .hosts, configuration, serverTimeout: Limits.dnsServerTimeout.lowerBound, poller: poller)
    searchList = .current(configuration.resolvConfPath)
    let parts = max(1, hosts.serverCount) * Limits.dnsTimeoutDivisor
    let serverTimeout = min(
      max(configuration.timeout / parts, Limits.dnsServerTimeout.lowerBound), Limits.dnsServerTimeout.upperBound)
    let channels = (
      hosts: hosts,
      dns: try AresChannel(
        .dns, configuration, serverTimeout: serverTimeout, usesTCP: searchList.usesTCP, poller: poller)
    )
    open = channels
    return channels
  }

  /// Closes the channels; the next ones have new sockets, which select their source addresses again.
  mutating func close() {
    open?.dns.close()
    open?.hosts.close()
    open = nil
  }

  /// How long until ``processTimeouts()`` has work; nil when no query is open.
  var nextTimeout: Duration? { open?.dns.nextTimeout }

  func process(_ event: Poller.Event) { open?.dns.process(event) }

  func processTimeouts() { open?.dns.processTimeouts() }

  /// Takes the answers since the last call.
  mutating func takeAnswers() -> [AresChannel.Answer] {
    let answers = open?.dns.takeAnswers() ?? []
    if answers.contains(where: { !$0.isTimeout }) { lastResponse = .now }
    return answers
  }

  /// Whether a DNS server has responded since a moment.
  func haveResponded(since moment: MonotonicInstant) -> Bool { lastResponse.map { $0 >= moment } ?? false }
}
