package import HTTPRouting
package import History
package import Logging
package import StatusAPI

/// What another executable adds to the service.
package protocol ServicePart: Sendable {
  /// What handles requests to the service's routes and those of the part; nil if it has none.
  var router: Router? { get }
  /// Starts it, after the store and the schedule; it must not block.
  func start()
  /// Ends it, while the store and the schedule still work; it blocks briefly.
  func stop()
}

package struct ServicePartContext: Sendable {
  package var service: StatusService
  /// The store; nil for memory only.
  package var store: HistoryStore?
  /// The settings at the start.
  package var configuration: Configuration
  package var logger: Logger
}
