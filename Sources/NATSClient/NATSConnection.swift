internal import CNATS
internal import Glibc

/// A connection to one of several servers, which connects again by itself until it is closed.
///
/// Operations may be called on any thread; those with a time limit block. While there is no connection they fail
/// immediately, and nothing is kept to be sent later. Events and messages arrive on threads of the library: all messages of
/// the process on one, in their order.
@safe public final class NATSConnection: @unchecked Sendable {
  /// What happens to a connection.
  public enum Event: Sendable, Hashable {
    /// It is established, first or again.
    case connected
    /// It was lost; the library connects again.
    case disconnected
    /// The server refused a subject: the library's message.
    case refused(String)
    /// Messages arrive faster than a handler accepts them, and the library has dropped some: not the server's condition.
    case overloaded
    /// It ended and does not connect again: it was closed, or the servers refused the credentials.
    case closed(String)
  }

  /// The settings.
  public let configuration: NATSConfiguration
  let handle: OpaquePointer
  private let observer: UInt
  private let ended = NATSEndedSubscriptions()

  /// Connects in the background; servers that are not available are tried again and again.
  ///
  /// - Parameters:
  ///   - configuration: the settings.
  ///   - observer: receives events, on threads of the library; it must not block.
  /// - Throws: an error when the settings are invalid or the library has no thread or memory.
  public init(_ configuration: NATSConfiguration, observer: @escaping @Sendable (Event) -> Void)
    throws(NATSError)
  {
    self.configuration = configuration
    let number = connectionCallbacks.add(observer)
    do throws(NATSError) {
      let options = unsafe try Self.makeOptions(configuration, observer: number)
      defer { unsafe natsOptions_Destroy(options) }
      var opened: OpaquePointer?
      let status = unsafe natsConnection_Connect(&opened, options)
      guard [NATS_OK, NATS_NOT_YET_CONNECTED].contains(status), let opened = unsafe opened else {
        throw NATSError.last("connect", status)
      }
      unsafe handle = unsafe opened
    } catch {
      connectionCallbacks.remove(number)
      throw error
    }
    self.observer = number
    if isConnected { observer(.connected) }
  }

  deinit {
    connectionCallbacks.remove(observer)
    // It waits for the library's thread.
    close()
    ended.releaseAll()
    unsafe natsConnection_Destroy(handle)
  }

  /// Closes the connection; operations fail from now on.
  public func close() { unsafe natsConnection_Close(handle) }

  /// Whether there is a connection now.
  public var isConnected: Bool { unsafe natsConnection_Status(handle) == NATS_CONN_STATUS_CONNECTED }

  /// Whether it ended.
  public var isClosed: Bool { unsafe natsConnection_IsClosed(handle) }

  /// The server's address; nil without a connection.
  public var server: String? {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      guard let start = text.baseAddress,
        unsafe natsConnection_GetConnectedUrl(handle, start, text.count) == NATS_OK
      else { return nil }
      let url = unsafe String(cString: start)
      // A URL may have a user and a password.
      guard let at = url.lastIndex(of: "@") else { return url.isEmpty ? nil : url }
      return String(url[url.index(after: at)...])
    }
  }

  /// A new subject for replies.
  public func makeInbox() -> String { "\(configuration.inboxPrefix).\(Self.token())" }

  /// A new subject for the deliveries of a consumer.
  public func makeDeliverySubject() -> String { "\(configuration.deliveryPrefix).\(Self.token())" }

  private static func token() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// Waits until the server has processed everything that was sent before.
  ///
  /// - Throws: an error when that does not happen in time.
  public func flush(within timeLimit: Duration) throws(NATSError) {
    let status = unsafe natsConnection_FlushTimeout(handle, timeLimit.wholeMilliseconds)
    guard status == NATS_OK else { throw NATSError.last("flush", status) }
  }

  /// While disconnected, the library keeps one message whatever the size of its buffer is, and sends it later.
  func checkConnected(_ operation: String) throws(NATSError) {
    guard isConnected else { throw NATSError(operation, .disconnected, "there is no connection") }
  }

  /// Refuses a further subscription while too many ended ones wait for the server.
  func checkEnded(_ operation: String) throws(NATSError) {
    guard !ended.isFull else { throw NATSError(operation, .failed, "too many ended subscriptions wait for the server") }
  }

  var hasReleasedAll: Bool { ended.isEmpty }

  /// Releases a subscription that has ended, when the library's thread cannot use it any more.
  func release(_ subscription: OpaquePointer) { unsafe ended.add(subscription, of: self) }
}

let connectionCallbacks = NATSCallbackTable<@Sendable (NATSConnection.Event) -> Void>()

extension Duration {
  /// Milliseconds, at least 1: the library rejects 0.
  var wholeMilliseconds: Int64 { max(1, Int64(self / .milliseconds(1))) }
}
