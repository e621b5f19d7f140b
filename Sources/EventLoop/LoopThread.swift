internal import CEventLoop
internal import Glibc

package struct LoopThread: Sendable {
  private let thread: pthread_t

  /// Starts a thread.
  ///
  /// All signals are blocked on it except the synchronous ones. The thread that handles signals must receive them, and
  /// a signal here would only interrupt a wait. This includes SIGPIPE, which a peer that closes its connection would
  /// cause. The synchronous signals stay open because the kernel ends the process without calling a handler when a
  /// blocked one occurs (`force_sig_info_to_task` in kernel/signal.c), so that no crash reporter would see the fault.
  /// SIGABRT needs no exception: abort(3) unblocks it.
  ///
  /// - Parameters:
  ///   - name: the thread's name in ps(1) and debuggers; its first 15 bytes are used.
  ///   - isWatched: whether ``LoopWatcher`` reports turns that take too long; not for a thread whose work is to wait for a
  ///     disk.
  ///   - body: what the thread runs.
  ///   - completion: called on the thread after `body` has returned and the objects that only `body` holds are
  ///     released.
  /// - Throws: an ``EventLoopError`` if the process has reached its limit of threads.
  package init(
    _ name: String, isWatched: Bool = true, _ body: sending @escaping () -> Void,
    completion: @escaping @Sendable () -> Void = {}
  ) throws(EventLoopError) {
    var blocked = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS] { unsafe sigdelset(&blocked, fault) }
    // The new thread inherits the mask, so that no signal reaches it before its first instruction.
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let start = unsafe Unmanaged.passRetained(Start(name, isWatched, body, completion))
    let code = unsafe pthread_create(&thread, nil, runLoopThread, start.toOpaque())
    guard code == 0 else {
      unsafe start.release()
      throw EventLoopError(operation: "pthread_create", errno: code)
    }
    self.thread = thread
  }

  /// Waits for the end of the thread, except when called on the thread itself.
  ///
  /// Must be called at most once, and not after ``detach()``.
  package func join() {
    // A callback on the thread may release the last reference to the thread's owner, and a thread cannot join itself.
    if isCurrent {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  /// Whether this is the calling thread.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  /// Lets the thread end without ``join()``.
  package func detach() { pthread_detach(thread) }

  fileprivate final class Start {
    private let name: String
    private let isWatched: Bool
    private var body: (() -> Void)?
    private let completion: @Sendable () -> Void

    init(_ name: String, _ isWatched: Bool, _ body: @escaping () -> Void, _ completion: @escaping @Sendable () -> Void)
    {
      self.name = String(decoding: name.utf8.prefix(Limits.threadNameBytes), as: UTF8.self)
      self.isWatched = isWatched
      self.body = body
      self.completion = completion
    }

    func run() {
      _ = unsafe CEventLoop_name_thread(name)
      if isWatched { LoopProgress(name).whileCurrent(runBody) } else { runBody() }
      completion()
    }

    /// Apart from ``run()``, so that no reference to what the body holds is left on the stack.
    @inline(never)
    private func runBody() {
      body?()
      body = nil
    }
  }
}

/// The start routine; at file scope because a C function pointer cannot capture anything.
private func runLoopThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Unmanaged<LoopThread.Start>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
