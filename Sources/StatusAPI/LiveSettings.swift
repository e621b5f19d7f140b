internal import Locks
internal import Logging
internal import NetworkReachability

/// The settings that may change while the service runs.
final class LiveSettings: Sendable {
  struct Values: Sendable {
    /// Names that `Host` may carry besides literals and `localhost`, in lower case.
    var allowedHosts: [String]
    /// Which foreign web pages may ask.
    var origins: OriginRule
    /// The deadline of a name's resolution when the request does not give one.
    var resolverTimeout: Duration
    /// Modules besides the built-in ones, or in their place.
    var modules: [ProbeModule]
    /// Whom callers may have us contact, without this machine's addresses.
    var contactPolicy: ContactPolicy
    /// Where each answer is logged; nil for nowhere.
    var accessLog: Logger?
  }

  private let values: Locked<Values>

  init(_ configuration: StatusService.Configuration) { values = Locked(Values(configuration)) }

  var current: Values { values.withLock(\.self) }

  func change(to configuration: StatusService.Configuration) {
    let new = Values(configuration)
    values.withLock { $0 = new }
  }
}

extension LiveSettings.Values {
  init(_ configuration: StatusService.Configuration) {
    self.init(
      allowedHosts: configuration.allowedHosts.map { $0.lowercased() },
      origins: OriginRule(allowed: Set(configuration.allowedOrigins)),
      resolverTimeout: configuration.resolverTimeout, modules: configuration.modules,
      contactPolicy: configuration.contactPolicy, accessLog: configuration.accessLog)
  }
}
