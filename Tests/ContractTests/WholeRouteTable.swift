import Logging
import ReachabilityFleet

@testable import FleetAPI
@testable import StatusAPI

extension RouteTable {
  /// The routes of a replica of a fleet: all that the contract has.
  static let ofReplica: [APIRoute] =
    all
    + FleetRoutes.all(
      FleetService(
        id: "r", hello: NodeHello(role: .replica, version: ""), engine: DisconnectedEngine(),
        members: DisconnectedEngine(),
        logger: Logger(label: "contract") { _ in SwiftLogNoOpLogHandler() }))
}

/// An engine that is never connected.
private final class DisconnectedEngine: FleetEngine {
  private final class Nothing: FleetSubscription { func cancel() {} }

  func publish(
    _ payload: [UInt8], on subject: FleetSubject, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) { completion(.failure(.disconnected)) }

  func lastMessage(
    on subject: FleetSubject,
    completion: @escaping @Sendable (Result<FleetEngineStoredMessage?, FleetEngineError>) -> Void
  ) { completion(.failure(.disconnected)) }

  func streamState(completion: @escaping @Sendable (Result<FleetEngineStreamState?, FleetEngineError>) -> Void) {
    completion(.failure(.disconnected))
  }

  func consume(
    from sequence: UInt64, receive: @escaping @Sendable (FleetEngineDelivery) -> Void
  ) -> any FleetSubscription { Nothing() }

  func send(_ payload: [UInt8], on subject: FleetSubject) {}

  func answer(_ payload: [UInt8], on subject: FleetReplySubject) {}

  func subscribe(
    _ subject: String, group: String?, admits: (@Sendable (_ subject: String) -> Bool)?,
    receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription { Nothing() }

  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) { completion(.failure(.disconnected)) }

  func observeConnection(_ observer: @escaping @Sendable (_ isConnected: Bool) -> Void) { observer(false) }
}
