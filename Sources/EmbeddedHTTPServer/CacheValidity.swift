internal import CMicroHTTPD
internal import Synchronization

/// Counts the states of what answers are made of; whoever changes something says so.
public final class CacheGeneration: Sendable {
  private let number = Atomic<UInt64>(0)

  /// The first state.
  public init() {}

  /// The number of the state as it is.
  public var current: UInt64 { number.load(ordering: .acquiring) }

  /// Something has changed: what was answered before need not be the answer any more.
  public func advance() { number.wrappingAdd(1, ordering: .releasing) }
}

/// The word of a handler that an answer stays the answer to the same head on the same connection, as long as nothing
/// changes: then the server gives it again without asking.
public struct CacheValidity: Sendable {
  private let epoch: CacheGeneration
  private let number: UInt64
  /// Told of each repeated answer, instead of the observer of all answers.
  let onReuse: @Sendable () -> Void

  /// A promise.
  ///
  /// - Parameters:
  ///   - epoch: what the answer depends on.
  ///   - number: its state, as it was before anything of it was looked at.
  ///   - onReuse: counts an answer that was given again; on the server's thread, so it must not block.
  public init(epoch: CacheGeneration, number: UInt64, onReuse: @escaping @Sendable () -> Void) {
    self.epoch = epoch
    self.number = number
    self.onReuse = onReuse
  }

  /// Nothing has changed since.
  var isValid: Bool { epoch.current == number }
}

/// An answer that is given again as long as it stands.
struct CachedResponse {
  let cacheValidity: CacheValidity
  let response: ResponseHandle
  /// Bytes of the body.
  let length: Int
}

extension ServerLoop {
  /// Keeps an answer for the next time that the same head comes on this connection, if it may be given again.
  func keep(_ response: HTTPResponse, for connection: Connection) {
    guard let cachedHead = connection.cachedHead else { return }
    guard let cacheValidity = response.cacheValidity, case .shared(let body) = response.body, response.isBareShared
    else {
      cachedHead.answer = nil
      return
    }
    cachedHead.answer = body.response(strictTransport: strictTransport).map {
      CachedResponse(cacheValidity: cacheValidity, response: $0, length: body.bytes.count)
    }
  }

  /// Gives the answer that was given before.
  func sendCached(_ connection: Connection, _ answer: CachedResponse) -> Bool {
    counters.bodyBytes.add(answer.length)
    answer.cacheValidity.onReuse()
    latestAnswer = connection
    connection.phase = .answered
    return unsafe MHD_queue_response(connection.handle, 200, answer.response.pointer) == .YES
  }
}
