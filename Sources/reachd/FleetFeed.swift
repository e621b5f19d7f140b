internal import ArgumentParser
internal import Dispatch
internal import EventLoop
internal import JSONFormat
internal import Locks
internal import StatusClient

/// Follows the fleet for `reachd top`, if the service is a replica: its events, and all targets whenever the stream begins
/// with a snapshot.
final class FleetFeed: Sendable {
  /// The delay before an attempt to connect, in milliseconds; ``ServiceFeed`` reports the state of the connection.
  private static let retryDelay: Int64 = 2_000
  /// Messages that wait for the screen; a service cannot send more events between two drawings.
  private static let messageLimit = 1_000_000
  /// The pages of the largest fleet.
  private static let pageLimit = 100

  private let client: ClientOptions
  private let source: SourceOptions
  private let mailbox: Mailbox<ServiceFeed.Message>

  init(client: ClientOptions, source: SourceOptions, mailbox: Mailbox<ServiceFeed.Message>) {
    (self.client, self.source, self.mailbox) = (client, source, mailbox)
  }

  /// Starts to follow, on a thread of its own because transfers block; ends if the service is no replica.
  func start() { DispatchQueue(label: "fleet feed").async { self.follow() } }

  private func follow() {
    var frames = SSEReader()
    var needsTargets = true
    while true {
      let response = try? client.stream(
        "/fleet/events?types=verdict,definition,agent", after: needsTargets ? nil : frames.lastID, source
      ) { [self] part in
        for event in frames.read(part) ?? [] {
          guard let data = try? JSON.parse(Array(event.data.utf8)) else { continue }
          if event.name == "snapshot" {
            needsTargets = true
          } else if event.name != "gap" {
            mailbox.post(.event(type: event.name, data), limit: Self.messageLimit)
          }
        }
        // A failure is repeated with the next event or heartbeat, which is a comment.
        if needsTargets, let targets = try? readTargets() {
          mailbox.post(.fleet(targets), limit: Self.messageLimit)
          needsTargets = false
        }
      }
      if response?.status == 404 { return }
      frames.reset()
      _ = Latch().wait(atMost: .milliseconds(Self.retryDelay))
    }
  }

  /// All targets; nil if one of the pages cannot be read.
  private func readTargets() throws -> [JSON]? {
    var targets: [JSON] = []
    var cursor: String?
    for _ in 0..<Self.pageLimit {
      let path = ClientOptions.fleetPage(after: cursor)
      let answer = try client.send(path, accept: "application/json", source)
      guard answer.status == 200, let document = try? JSON.parse(answer.body),
        let page = document["targets"]?.elements
      else { return nil }
      targets += page
      cursor = document["next"]?.string
      if cursor == nil { break }
    }
    return targets
  }
}
