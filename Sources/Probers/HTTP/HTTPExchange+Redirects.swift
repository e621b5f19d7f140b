internal import EventLoop
internal import ReachabilityModel
internal import TextSyntax

/// What the redirects of a request have led to.
struct HTTPRedirects {
  /// How many have been followed.
  var count = 0
  /// Whether none has led to another host: the names of the module and the caller are for the target's.
  var areOnTargetHost = true
  /// The user information of the last one's URL.
  var login: CurlTarget.Login?
}

// Redirects: each is a target of its own, authorized and connected like the first.
extension HTTPExchange {
  /// The name for TLS that the module or the caller has set for the target's host; nil for the host itself.
  var configuredName: ReachabilityTarget? {
    guard redirects.areOnTargetHost else { return nil }
    return options.tls.serverName.map { ReachabilityTarget(.name($0)) } ?? request.host
  }

  var tlsName: String { (configuredName ?? target.host).withoutFinalDot }

  /// The `Location` of an answer that redirects a client; nil without a redirect.
  func location(_ status: Int) -> String? { CurlTarget.redirects.contains(status) ? answer.location : nil }

  /// Follows a redirect if the policy allows its host, and if it does not lead from TLS to plain text.
  func follow(_ redirect: CurlTarget.Redirect, after status: Int) {
    endTransfer()
    redirects.count += 1
    // The message omits the error, because it would contain text from the peer.
    let text = Self.encoded(redirect.url.prefix { $0 != "#" })
    guard let next = try? CheckTarget(text, longest: Limits.urlBytes) else {
      let message = "the Location of the redirect is not a usable URL"
      return loop.conclude(check, ProberResult(.down, .httpStatus, detail: message))
    }
    guard next.scheme == target.scheme || next.scheme == .https else {
      return loop.conclude(
        check,
        ProberResult(.down, .httpStatus, detail: "the redirect leads from \(target.scheme.rawValue) to another scheme"))
    }
    let isSameOrigin = next.hasOrigin(of: target)
    redirects.areOnTargetHost = redirects.areOnTargetHost && next.hasHost(of: check.request.target)
    guard request.redirect(status, toSameOrigin: isSameOrigin, sameHost: redirects.areOnTargetHost) else {
      let message = "the redirect (\(status)) leads to another server, which must not receive the body"
      return loop.conclude(check, ProberResult(.down, .httpStatus, detail: message))
    }
    // Before the name is resolved: a query would go to a name server that the first server selected.
    guard check.request.moduleVerdict(on: next) != .denied else { return loop.conclude(check, .redirectOutsideHosts) }
    redirects.login = redirect.login ?? (isSameOrigin ? redirects.login : nil)
    target = next
    check.evidence.redirectTarget = next
    answer = HTTPResponseReader(options)
    switch next.host.remote {
    case .address(let address): connect([SocketPeer(address: address, port: next.port ?? 0)])
    case .name(let name): step = .resolving(since: .now, loop.resolve(name, for: check))
    case .defaultPath, .localLink: loop.conclude(check, .denied)
    }
  }

  /// Handles the resolver's answer for the name of a redirect.
  func resolved(_ outcome: Result<[SocketPeer], ProberResult>) {
    guard case .resolving(let begun, _) = step else { return }
    step = .connecting
    check.add(.resolve, begun.duration(to: .now))
    switch outcome {
    case .success(let peers):
      connect(peers.map { SocketPeer(address: $0.address, port: target.port ?? 0, scope: $0.scope) })
    case .failure(let finding): loop.conclude(check, finding)
    }
  }

  /// Encodes spaces and non-ASCII characters as %XX, as browsers do: many servers send them unencoded.
  private static func encoded(_ location: Substring) -> String {
    PercentEncoding.encoded(location) { (0x21...0x7e).contains($0) }
  }

  private func connect(_ peers: [SocketPeer]) {
    do throws(ProberResult) {
      let selection = check.request.module.addresses == .first ? CheckAddressSelection.first : .any
      let permitted = try check.permitted(
        peers, selection, by: check.request.moduleVerdict(on: target), else: .redirectOutsideHosts,
        "no route to any address of the redirect's host")
      connect(to: permitted)
    } catch {
      loop.conclude(check, error)
    }
  }
}

extension ProberResult {
  fileprivate static let redirectOutsideHosts = ProberResult(
    .down, .httpStatus, detail: "the redirect leads to a host that the hosts of the module do not include")
}

extension CheckTarget {
  /// Whether scheme, host and port equal those of another target (RFC 6454 §5).
  fileprivate func hasOrigin(of other: CheckTarget) -> Bool {
    scheme == other.scheme && hasHost(of: other) && port == other.port
  }

  /// Whether the host equals that of another target.
  fileprivate func hasHost(of other: CheckTarget) -> Bool {
    host.withoutFinalDot.lowercased() == other.host.withoutFinalDot.lowercased()
  }
}
