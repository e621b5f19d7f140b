import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@Suite("Queues and executors of listeners")
struct ContextTests {
  private static let key = DispatchSpecificKey<String>()

  /// Runs tasks on a queue that knows its name.
  private final class QueueExecutor: TaskExecutor {
    let queue = DispatchQueue(label: "executor")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// The names of the queues on which the first updates are delivered.
  private func heard(on context: DeliveryContext?) async throws -> [String?] {
    let bench = try Bench.started()
    let names = Shared<[String?]>([])
    let body = { @Sendable (_: ReachabilityUpdate) in
      names.withLock { $0.append(DispatchQueue.getSpecific(key: Self.key)) }
    }
    let subscription = context.map { bench.monitor.listen(on: $0, body) } ?? bench.monitor.listen(body)
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(await eventually(within: .seconds(120)) { () async in names.value.count == 2 })
    subscription?.cancel()
    return names.value
  }

  @Test("E2-5 by default a listener runs on the main queue")
  func mainQueue() async throws {
    DispatchQueue.main.setSpecific(key: Self.key, value: "main")
    #expect(try await heard(on: nil) == ["main", "main"])
    #expect(try await heard(on: .main) == ["main", "main"])
  }

  @Test("E2-5 a listener runs on its queue")
  func otherQueue() async throws {
    let queue = DispatchQueue(label: "own")
    queue.setSpecific(key: Self.key, value: "own")
    #expect(try await heard(on: .queue(queue)) == ["own", "own"])
  }

  @Test("A listener runs on its task executor")
  func executor() async throws {
    let executor = QueueExecutor()
    executor.queue.setSpecific(key: Self.key, value: "executor")
    #expect(try await heard(on: .executor(executor)) == ["executor", "executor"])
  }

  /// State of the main actor, such as a view has.
  @MainActor private final class View {
    var statuses: [ReachabilityStatus] = []
  }

  @Test("A closure of the main actor uses the state of the main actor")
  @MainActor func mainActor() async throws {
    let bench = try Bench.started()
    let view = View()
    let subscription = bench.monitor.listenOnMainActor { view.statuses.append($0.status) }
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    let end = ContinuousClock.now + .seconds(120)
    while view.statuses.count < 2, ContinuousClock.now < end { await Task.yield() }
    #expect(view.statuses.map(\.isReachable) == [true, false])
    subscription?.cancel()
    let machine = bench.monitor.snapshot.machine
    #expect(machine.interface == machine.leading.interface && machine.gateway == machine.leading.gateway)
  }
}
