internal import Locks
internal import NATSClient
internal import ReachabilityFleet

/// The messages of a subject, over as many connections as needed.
final class NATSMessengerSubscription: FleetSubscription {
  private let subject: String
  private let group: String?
  private let admits: (@Sendable (String) -> Bool)?
  private let receive: @Sendable (FleetEngineUnstoredMessage) -> Void
  private let onCancel: @Sendable () -> Void
  private let current = Locked<NATSSubscription?>(nil)

  init(
    _ subject: String, _ group: String?, _ admits: (@Sendable (String) -> Bool)?,
    _ receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void,
    onCancel: @escaping @Sendable () -> Void
  ) {
    self.subject = subject
    self.group = group
    self.admits = admits
    self.receive = receive
    self.onCancel = onCancel
  }

  /// Begins on a connection, in place of an earlier one.
  func begin(_ connection: NATSConnection) throws(NATSError) {
    let made = try connection.subscribe(subject, queue: group, admits: admits) { [receive] message in
      receive(
        FleetEngineUnstoredMessage(subject: message.subject, reply: message.reply, payload: message.payload))
    }
    current.withLock { $0 = made }
  }

  func cancel() {
    current.withLock { $0 = nil }
    onCancel()
  }
}
