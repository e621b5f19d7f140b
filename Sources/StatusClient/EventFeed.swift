internal import Locks

/// Follows an event stream of a service, and connects again when it ends.
package struct EventFeed: Sendable {
  package enum Message {
    case event(SSEReader.Event)
    /// The stream has ended, for this reason; the next attempt follows after a number of seconds.
    case interrupted(String, retry: UInt32)
    /// An event exceeds the limit: the stream is not from reachd.
    case oversized
  }

  /// Why the feed ends: a new connection changes nothing.
  package enum End {
    case unexpected(HTTPClient.Response)
    /// The service has never responded, or the settings cannot be used.
    case failed(ServiceConnectionError)
  }

  /// The first and the longest delay before the next connection, in seconds; it doubles with each failure.
  private static let delays: (first: UInt32, longest: UInt32) = (1, 30)

  private let connection: any ServiceConnection
  private let path: String
  private let resumes: Bool

  /// Makes a feed.
  ///
  /// - Parameters:
  ///   - connection: the service.
  ///   - path: the path of the stream, with its query.
  ///   - resumes: whether a new connection continues after the last event.
  package init(_ connection: any ServiceConnection, path: String, resumes: Bool) {
    (self.connection, self.path, self.resumes) = (connection, path, resumes)
  }

  /// Follows the stream on the calling thread, which it blocks.
  ///
  /// - Parameter handle: receives the messages, on this thread.
  /// - Returns: why it has ended.
  package func follow(_ handle: @escaping (Message) -> Void) -> End {
    let reader = Reader(handle)
    var delay = Self.delays.first
    while true {
      let before = reader.count
      var failure: ServiceConnectionError
      do throws(ServiceConnectionError) {
        let response = try connection.stream(
          path, after: resumes ? reader.frames.lastID : nil, onOpen: { _ in }, receive: reader.receive)
        // Overload and shutdown end; other responses do not change without a change of the command.
        guard response.isStream || [429, 503].contains(response.status) else { return .unexpected(response) }
        failure = .noResponse(response.isStream ? "the service closed the stream" : response.problem, hint: nil)
      } catch {
        failure = error
      }
      // A service that never responded is probably the wrong address.
      guard reader.count > 0, case .noResponse(let reason, _) = failure else { return .failed(failure) }
      delay = reader.count > before ? Self.delays.first : min(delay * 2, Self.delays.longest)
      handle(.interrupted(reason, retry: delay))
      reader.frames.reset()
      _ = Latch().wait(atMost: .seconds(delay))
    }
  }

  /// Reads the events of a stream, on the thread of the transfer.
  private final class Reader {
    var frames = SSEReader()
    /// The number of events received.
    private(set) var count = 0
    private let handle: (Message) -> Void

    init(_ handle: @escaping (Message) -> Void) { self.handle = handle }

    func receive(_ part: [UInt8]) {
      guard let events = frames.read(part) else { return handle(.oversized) }
      for event in events {
        count += 1
        handle(.event(event))
      }
    }
  }
}
