internal import Synchronization

/// Counts the changes of the data that responses are made of.
public final class ResponseCacheGeneration: Sendable {
  private let number = Atomic<UInt64>(0)

  /// Makes the first generation.
  public init() {}

  /// The number of the current generation.
  public var current: UInt64 { number.load(ordering: .acquiring) }

  /// Records a change, which invalidates the responses cached before.
  public func advance() { number.wrappingAdd(1, ordering: .releasing) }
}

/// A handler's promise that the response to the same head on the same connection stays the same until a change.
///
/// Until then the server reuses the response without a call of the handler.
public struct ResponseCacheValidity: Sendable {
  private let generation: ResponseCacheGeneration
  private let number: UInt64
  /// Called for each reused response, instead of the observer of all responses.
  let onReuse: @Sendable () -> Void

  /// Makes a promise.
  ///
  /// - Parameters:
  ///   - generation: the generation counter that the response depends on.
  ///   - number: the generation, read before any of the data.
  ///   - onReuse: counts a response that was reused; called on the server's thread, so it must not block.
  public init(generation: ResponseCacheGeneration, number: UInt64, onReuse: @escaping @Sendable () -> Void) {
    self.generation = generation
    self.number = number
    self.onReuse = onReuse
  }

  /// Whether nothing has changed since.
  var isValid: Bool { generation.current == number }
}

/// A response that is reused while it is valid.
struct CachedResponse {
  let cacheValidity: ResponseCacheValidity
  let response: MHDResponse
  let length: Int
}
