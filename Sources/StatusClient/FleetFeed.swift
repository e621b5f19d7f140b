internal import Dispatch
internal import EventLoop
internal import JSONFormat
internal import Locks
internal import TextSyntax

/// Follows the fleet for `reachd top`, if the service is a replica: its events, and all targets whenever the stream begins
/// with a snapshot.
final class FleetFeed: Sendable {
  /// The delay before an attempt to connect, in milliseconds; ``ServiceFeed`` reports the state of the connection.
  private static let retryDelay: Int64 = 2_000

  private let connection: any ServiceConnection
  private let mailbox: Mailbox<ServiceFeed.Message>

  init(_ connection: any ServiceConnection, _ mailbox: Mailbox<ServiceFeed.Message>) {
    (self.connection, self.mailbox) = (connection, mailbox)
  }

  /// Starts to follow, on a thread of its own because transfers block; ends if the service is no replica.
  func start() { DispatchQueue(label: "fleet feed").async { self.follow() } }

  private func follow() {
    var frames = SSEReader()
    var needsTargets = true
    while true {
      let response = try? connection.stream(
        "/fleet/events?types=verdict,definition,agent", after: needsTargets ? nil : frames.lastID
      ) { _ in
      } receive: { [self] part in
        for event in frames.read(part) ?? [] {
          guard let data = try? JSON.parse(Array(event.data.utf8)) else { continue }
          if event.name == "snapshot" {
            needsTargets = true
          } else if event.name != "gap" {
            mailbox.post(.event(type: event.name, data), limit: ServiceFeed.messageLimit)
          }
        }
        // A failure is repeated with the next event or heartbeat, which is a comment.
        if needsTargets, let targets = try? readTargets() {
          mailbox.post(.fleet(targets), limit: ServiceFeed.messageLimit)
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
    for _ in 0..<FleetPages.limit {
      let answer = try connection.document(FleetPages.path(after: cursor))
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

/// The pages of `GET /fleet/targets`.
package enum FleetPages {
  /// The targets of a page, the largest number that a replica allows.
  private static let targetsPerPage = 1000
  /// The pages of the largest fleet.
  package static let limit = 100

  package static func path(after cursor: String?, verdict: String? = nil) -> String {
    let query = [("limit", String(targetsPerPage)), ("verdict", verdict), ("cursor", cursor)]
      .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
    return "/fleet/targets?" + query.joined(separator: "&")
  }
}
