internal import Dispatch
package import EventLoop
package import JSONFormat
internal import Locks
internal import NetworkReachability
package import TerminalUI
internal import TextSyntax

/// Follows a service for `reachd top`: its stream, and all targets whenever the stream begins with a snapshot.
///
/// The targets are read after the snapshot and before the events that follow it, which wait in the socket. An event that
/// the targets include already is applied again, which changes nothing.
package final class ServiceFeed: Sendable {
  package enum Message: Sendable {
    /// The state of the connection changed, or bytes arrived.
    case connection(TopServiceConnection)
    /// The time of the service, in milliseconds since 1970, and that of this machine.
    case clock(Int64, local: Int64)
    /// `GET /targets/overview`.
    case overview(JSON)
    /// `GET /gates`.
    case gates(JSON)
    /// The targets of the fleet, if the service is a replica.
    case fleet([JSON])
    /// `GET /events`: the events before the stream.
    case past(JSON)
    case event(type: String, JSON)
    /// The response for one target.
    case document(TopModel.Document)
    /// The service has never responded, for this reason.
    case unavailable(String)
    /// The settings cannot be used, which was reported.
    case unusable(any Error)
  }

  /// The delays before attempts to connect, in milliseconds; the last one repeats.
  private static let retryDelays: [Int64] = [500, 1_000, 2_000, 3_000, 5_000]
  /// Messages that wait for the screen; a service cannot send more events between two drawings.
  static let messageLimit = 1_000_000

  private let connection: any ServiceConnection
  private let mailbox: Mailbox<Message>
  private let documents = DispatchQueue(label: "documents")

  /// Makes a feed that sends its messages to a mailbox.
  package init(_ connection: any ServiceConnection, _ mailbox: Mailbox<Message>) {
    (self.connection, self.mailbox) = (connection, mailbox)
  }

  /// Starts to follow the service, on a thread of its own because transfers block.
  package func start() {
    DispatchQueue(label: "feed").async { self.follow() }
    FleetFeed(connection, mailbox).start()
  }

  /// Requests the document of a target.
  package func load(id: String, isOfFleet: Bool) {
    documents.async { [self] in
      let document: TopModel.Document
      do {
        let response = try connection.document(
          "\(isOfFleet ? "/fleet" : "")/targets/\(PercentEncoding.encoded(id))")
        if response.status == 200, let value = try? JSON.parse(response.body) {
          document = .target(id: id, value)
        } else {
          document = .failed(id: id, response.problem)
        }
      } catch {
        document = .failed(id: id, "\(error)")
      }
      mailbox.post(.document(document), limit: Self.messageLimit)
    }
  }

  /// The time of this machine, in milliseconds since 1970.
  package static var now: Int64 { Timestamp.now.microseconds / 1000 }

  private func follow() {
    let reader = Reader(self)
    var attempt = 0
    var lostAt: Int64?
    while true {
      let before = reader.count
      let failure: String
      var hint: String?
      do throws(ServiceConnectionError) {
        let response = try connection.stream(
          "/events", after: reader.lastID, onOpen: reader.followClock, receive: reader.receive)
        failure =
          response.isStream
          ? reader.failure ?? "the service closed the stream" : "\(response.status) \(response.problem)"
      } catch {
        switch error {
        case .unusable(let error):
          mailbox.post(.unusable(error))
          return
        case .noResponse(let reason, let advice): (failure, hint) = (reason, advice)
        }
      }
      // A service that never responded is probably the wrong address.
      guard reader.count > 0 else {
        mailbox.post(.unavailable([failure, hint].compactMap(\.self).joined(separator: "; ")))
        return
      }
      if reader.count > before { (attempt, lostAt) = (0, nil) }
      let now = Self.now
      let delay = Self.retryDelays[min(attempt, Self.retryDelays.count - 1)]
      let since = lostAt ?? now
      lostAt = since
      attempt += 1
      mailbox.post(.connection(.disconnected(since: since, reason: failure, retry: now + delay)))
      reader.reset()
      _ = Latch().wait(atMost: .milliseconds(delay))
    }
  }

  private func readOverview() throws -> JSON {
    let response = try connection.document("/targets/overview")
    guard response.status == 200, let document = try? JSON.parse(response.body) else {
      throw Refusal(description: "\(response.status) \(response.problem)")
    }
    return document
  }

  /// A document on which the targets do not depend; nil if it cannot be read, as the gates of a service before 0.2.
  private func read(_ path: String) -> JSON? {
    guard let response = try? connection.document(path), response.status == 200 else { return nil }
    return try? JSON.parse(response.body)
  }

  private struct Refusal: Error, CustomStringConvertible {
    var description: String
  }

  /// Reads the events of a stream, on the thread of the transfer.
  private final class Reader {
    private let feed: ServiceFeed
    private var frames = SSEReader()
    private(set) var count = 0
    /// Why the data of the stream cannot be used.
    private(set) var failure: String?
    /// Whether the targets must be read before events can be applied.
    private var needsTargets = true

    init(_ feed: ServiceFeed) { self.feed = feed }

    /// The id to continue after; nil while the targets are not those of a snapshot.
    var lastID: String? { needsTargets ? nil : frames.lastID }

    func reset() {
      frames.reset()
      failure = nil
    }

    func followClock(_ date: Int?) {
      guard let date else { return }
      feed.mailbox.post(.clock(Int64(date) * 1000, local: ServiceFeed.now), limit: ServiceFeed.messageLimit)
    }

    func receive(_ part: [UInt8]) {
      guard let events = frames.read(part) else {
        failure = "an event exceeds the limit; the stream is not from reachd"
        return
      }
      for event in events {
        count += 1
        guard let data = try? JSON.parse(Array(event.data.utf8)) else { continue }
        if event.name == "snapshot" {
          needsTargets = true
          readTargets()
        }
        feed.mailbox.post(.event(type: event.name, data), limit: ServiceFeed.messageLimit)
      }
      // A failure is repeated with the next event or heartbeat, which is a comment.
      if needsTargets, events.isEmpty { readTargets() }
      if !needsTargets { feed.mailbox.post(.connection(.live(lastByte: ServiceFeed.now))) }
    }

    private func readTargets() {
      do {
        feed.mailbox.post(.overview(try feed.readOverview()))
        needsTargets = false
        failure = nil
        if let gates = feed.read("/gates") { feed.mailbox.post(.gates(gates)) }
        if let past = feed.read("/events") { feed.mailbox.post(.past(past), limit: ServiceFeed.messageLimit) }
      } catch {
        failure = "\(error)"
      }
    }
  }
}
