internal import Synchronization

/// Counts the changes of the data that responses are made of.
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
