internal import Glibc
internal import Locks

/// A thread that runs closures one after the other while their callers wait.
final class Worker: Sendable {
  private struct Job {
    let body: @Sendable () -> Void
    let done: Signal
  }

  private struct Queue {
    var jobs: [Job] = []
    var isEnding = false
  }

  private let queue = Locked(Queue())
  private let wake = Signal()

  /// Starts the thread.
  init() {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Context(worker: self))
    let code = unsafe pthread_create(&thread, nil, workerThread, context.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  /// Lets the thread end after what it runs now.
  func end() {
    queue.withLock { $0.isEnding = true }
    wake.post()
  }

  /// Runs a closure on the thread and waits for it.
  func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    let done = Signal()
    withoutActuallyEscaping(body) { body in
      unsafe withUnsafeMutablePointer(to: &outcome) { outcome in
        // The caller stands still until the closure has run: nothing is shared at the same time.
        nonisolated(unsafe) let outcome = unsafe outcome
        nonisolated(unsafe) let body = body
        queue.withLock { queue in
          let job: @Sendable () -> Void = {
            do throws(Failure) {
              unsafe outcome.pointee = .success(try body())
            } catch {
              unsafe outcome.pointee = .failure(error)
            }
          }
          queue.jobs.append(Job(body: job, done: done))
        }
        wake.post()
        done.wait()
      }
    }
    guard let outcome else { preconditionFailure("the worker ended without running its job") }
    return try outcome.get()
  }

  fileprivate func work() {
    while true {
      wake.wait()
      if let done = runOne() { done.post() } else if queue.withLock({ $0.isEnding }) { return }
    }
  }

  /// Apart from the loop so that the closure is gone when its caller goes on: it must not outlive the call.
  @inline(never)
  private func runOne() -> Signal? {
    let job = queue.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    job?.body()
    return job?.done
  }
}

/// Keeps the worker for its thread.
private final class Context {
  let worker: Worker
  init(worker: Worker) { self.worker = worker }
}

private func workerThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<Context>.fromOpaque(context).takeRetainedValue().worker.work()
  }
  return nil
}

/// A counting semaphore (sem_overview(7)).
@safe final class Signal: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    unsafe semaphore.initialize(to: sem_t())
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func post() { unsafe sem_post(semaphore) }

  func wait() { while unsafe sem_wait(semaphore) != 0 {} }
}
