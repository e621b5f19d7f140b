internal import Locks
internal import NetworkReachability

/// The settings that can change while the service runs.
final class ReloadableSettings: Sendable {
  /// A class, because every request reads the values more than once.
  final class Values: Sendable {
    /// The deadline of a name's resolution when the request does not give one.
    let resolverTimeout: Duration
    /// Modules besides the built-in ones, or in their place.
    let modules: [CheckModule]
    /// The addresses that clients may have the service contact, without this machine's own addresses.
    let contactPolicy: ContactPolicy
    /// The labels of registered targets that are labels of `reachd_target_up`.
    let metricLabels: [MetricLabel]
    /// Whether `GET /` returns the status page to browsers.
    let servesPage: Bool

    init(_ configuration: StatusServiceConfiguration) {
      resolverTimeout = configuration.resolverTimeout
      modules = configuration.modules
      contactPolicy = configuration.contactPolicy
      metricLabels = configuration.metricLabels
      servesPage = configuration.servesPage
    }
  }

  private let values: Locked<Values>

  init(_ configuration: StatusServiceConfiguration) {
    values = Locked(Values(configuration))
  }

  var current: Values { values.withLock(\.self) }

  func change(to configuration: StatusServiceConfiguration) {
    let new = Values(configuration)
    values.withLock { $0 = new }
  }
}

extension [CheckModule] {
  /// Returns the targets for which clients may use a module that they named before the last reload.
  ///
  /// The module that has the name now decides. A module that the file no longer defines is limited to configured
  /// targets: clients may use it only if it sends no value from the file. What such a module did is not known after a
  /// restart, so that no client may use it then.
  func access(to module: CheckModule) -> ModuleAccess {
    first { $0.name == module.name }?.access ?? (module.access == .noTarget ? .noTarget : .configuredTargets)
  }
}
