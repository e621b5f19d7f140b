internal import Locks
internal import Logging
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// The settings that may change while the service runs.
final class ReloadableSettings: Sendable {
  /// By reference, because every request looks at them more than once.
  final class Values: Sendable {
    /// Names that `Host` may carry besides literals and `localhost`, in lower case.
    let allowedHosts: [String]
    /// Which foreign web pages may ask.
    let origins: OriginPolicy
    /// The deadline of a name's resolution when the request does not give one.
    let resolverTimeout: Duration
    /// Modules besides the built-in ones, or in their place.
    let modules: [CheckModule]
    /// Whom callers may have us contact, without this machine's addresses.
    let contactPolicy: ContactPolicy
    /// Where each answer is logged; nil for nowhere.
    let accessLog: Logger?

    init(_ configuration: StatusService.Configuration) {
      allowedHosts = configuration.allowedHosts.map { $0.lowercased() }
      origins = OriginPolicy(allowed: Set(configuration.allowedOrigins))
      resolverTimeout = configuration.resolverTimeout
      modules = configuration.modules
      contactPolicy = configuration.contactPolicy
      accessLog = configuration.accessLog
    }
  }

  private let values: Locked<Values>

  private let epoch: CacheGeneration

  init(_ configuration: StatusService.Configuration, epoch: CacheGeneration = CacheGeneration()) {
    values = Locked(Values(configuration))
    self.epoch = epoch
  }

  var current: Values { values.withLock(\.self) }

  func change(to configuration: StatusService.Configuration) {
    let new = Values(configuration)
    values.withLock { $0 = new }
    epoch.advance()
  }
}

extension [CheckModule] {
  /// For which targets callers may use a module that they named before these were the modules of the file.
  ///
  /// The module that has its name now decides. One that the file no longer has is for no caller, unless it sends nothing of
  /// the file.
  func access(to module: CheckModule) -> ModuleAccess {
    first { $0.name == module.name }?.access ?? .configuredTargets
  }
}
