internal import CMicroHTTPD
internal import Glibc
internal import Locks
internal import Synchronization

/// What the server's thread is told.
enum ServerMessage: Sendable {
  /// The answer to a deferred request; nil when its promise was dropped.
  case reply(connection: UInt64, request: UInt64, HTTPResponse?)
  /// Whom to tell when nobody waits for the answer to a deferred request any more.
  case onAbandonment(connection: UInt64, request: UInt64, @Sendable () -> Void)
  /// A stream of a client with this address has ended, where those are counted.
  case releasedAddressSlot(String)
  case limits(streams: Int?, requestBody: Int?)
  case announceClose
  case stopAccepting(done: Signal)
  case endStreams(closeEvent: [UInt8])
  case stop(grace: Duration)
}

typealias ServerInbox = Inbox<ServerMessage>

/// The only way into a thread of the server's: messages and pokes, both of which wake it.
final class Inbox<Message: Sendable>: Sendable {
  private struct State {
    var isClosed = false
    var messages: [Message] = []
  }

  /// Written to at the first poke since the thread looked, and never read: each write is a change to an edge-triggered watch.
  ///
  /// Read when the thread looks, it could be written right after, for what the thread had seen already: readable without an
  /// end, it would let the thread sleep no more.
  private let descriptor: Int32
  private let isPoked = Atomic(false)
  private let state = Locked(State())

  /// Nil when the system has no descriptor left.
  init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  /// Has an epoll set tell of pokes (epoll(7)); false when the system refuses.
  func watch(in poller: Int32, token: UInt64) -> Bool {
    var event = unsafe epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: token))
    return unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0
  }

  /// Leaves a message; false when the thread has ended and will read no more.
  @discardableResult
  func post(_ message: Message) -> Bool {
    let isOpen = state.withLock { state in
      guard !state.isClosed else { return false }
      state.messages.append(message)
      return true
    }
    if isOpen { poke() }
    return isOpen
  }

  /// Wakes the thread: one system call however many pokes come before it looks.
  func poke() {
    guard !isPoked.exchange(true, ordering: .acquiringAndReleasing) else { return }
    eventfd_write(descriptor, 1)
  }

  /// Whether somebody has poked since the last `take`.
  var hasWork: Bool { isPoked.load(ordering: .acquiring) }

  /// Takes all messages; called on the thread only.
  func take() -> [Message] {
    // Lowered before the look: a poke from now on writes again, so nothing that comes after the look is slept over.
    isPoked.store(false, ordering: .sequentiallyConsistent)
    return state.withLock { state in
      let messages = state.messages
      state.messages = []
      return messages
    }
  }

  /// Refuses messages from now on and gives back those that were not read.
  func closeDown() -> [Message] {
    state.withLock { state in
      state.isClosed = true
      let messages = state.messages
      state.messages = []
      return messages
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

/// A one-way signal from one thread to another (sem_overview(7)).
@safe final class Signal: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    unsafe semaphore.initialize(to: sem_t())
    unsafe sem_init(semaphore, 0, 0)
  }

  /// Lets one waiter go on, now or when it comes.
  func raise() {
    unsafe sem_post(semaphore)
  }

  /// Waits for `raise`.
  func wait() {
    while unsafe sem_wait(semaphore) != 0, errno == EINTR {}
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }
}
