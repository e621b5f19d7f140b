internal import EventLoop
internal import Glibc

/// The descriptors of the checks of a thread, and the owners that handle their events.
final class ProberDescriptors {
  private let poller: Poller
  private var handlers: [(any ProberDescriptorHandler)?] = []

  init(_ poller: Poller) { self.poller = poller }

  /// Watches all changes of a new descriptor for `handler`, until ``close(_:)``.
  func watch(_ descriptor: Int32, _ handler: any ProberDescriptorHandler) throws(SocketFailure) {
    register(descriptor, handler)
    do throws(EventLoopError) {
      try poller.add(descriptor, .changes)
    } catch {
      throw .immediate(error.errno)
    }
  }

  /// Sets the owner of a descriptor whose events are set separately; nil for none.
  func register(_ descriptor: Int32, _ handler: (any ProberDescriptorHandler)?) {
    while handlers.count <= Int(descriptor) { handlers.append(nil) }
    handlers[Int(descriptor)] = handler
  }

  /// Sets the events to watch a registered descriptor for.
  ///
  /// If the kernel has no memory for it, the checks end at their deadlines.
  func set(_ descriptor: Int32, _ events: Poller.Events) { try? poller.set(descriptor, events) }

  /// Ends the watching of a descriptor that is closed elsewhere.
  func remove(_ descriptor: Int32) { poller.remove(descriptor) }

  /// Closes a descriptor, which also ends the watching.
  func close(_ descriptor: Int32) {
    if Int(descriptor) < handlers.count { handlers[Int(descriptor)] = nil }
    Glibc.close(descriptor)
  }

  /// Waits until some are ready; returns how many.
  func wait(atMost limit: Duration?) -> Int { poller.wait(atMost: limit) }

  /// Has the ready ones handled; true if there may be more.
  func handleReady(_ count: Int) -> Bool {
    for index in 0..<count {
      let event = poller[index]
      guard event.token < UInt64(handlers.count) else { continue }
      handlers[Int(event.descriptor)]?.ready(event)
    }
    return count == poller.capacity
  }
}

extension Poller.Events {
  /// All changes; a constant, because its parts are in another module.
  fileprivate static let changes: Poller.Events = [.readable, .writable, .peerClosed, .edgeTriggered]
}
