import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@Suite("Updates as an asynchronous sequence")
struct SequenceTests {
  @Test("E8-1 a sequence has the present state, then every change")
  func stateThenChanges() async throws {
    let bench = try Bench.started()
    var iterator = bench.monitor.updates().makeAsyncIterator()
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    bench.gainDefault()
    let statuses = [await iterator.next()?.status, await iterator.next()?.status, await iterator.next()?.status]
    #expect(statuses == [online, .notReachable, online])
  }

  @Test("Each iteration is a subscription of its own")
  func severalIterators() async throws {
    let bench = try Bench.started()
    let sequence = bench.monitor.updates()
    var first = sequence.makeAsyncIterator()
    _ = await first.next()
    bench.gainDefault(via: "10.0.0.2", [])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    var second = sequence.makeAsyncIterator()
    #expect(await second.next()?.isInitial == true)
    #expect(await first.next()?.transition != nil)
    bench.gainDefault()
    #expect(await second.next()?.transition?.kind == .status)
  }

  @Test("A sequence starts and ends with the monitor")
  func waitsAndEnds() async throws {
    let bench = Bench()
    let reader = Task { [monitor = bench.monitor] in
      var statuses: [ReachabilityStatus] = []
      for await update in monitor.updates() { statuses.append(update.status) }
      return statuses
    }
    // The reader may subscribe before or after the start; it receives the state either way.
    try bench.monitor.start()
    var seen = bench.monitor.updates().makeAsyncIterator()
    #expect(await seen.next()?.status == online)
    await Task.yield()
    for _ in 0..<1000 { await Task.yield() }
    bench.monitor.stop()
    let deadline = Task {
      await pause(.seconds(60), because: "a reader that does not end fails the test instead of blocking it")
      if !Task.isCancelled { reader.cancel() }
    }
    let statuses = await reader.value
    deadline.cancel()
    #expect(statuses == [online] || statuses.isEmpty)
    #expect(await seen.next() == nil)
    #expect(await seen.next() == nil)
  }

  @Test("A sequence ends with its monitor, also a later one")
  func dropped() async throws {
    var bench: Bench? = try Bench.started()
    let sequence = try #require(bench?.monitor.updates())
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    weak let watched = bench?.monitor
    bench = nil
    #expect(watched == nil, "neither sequence nor iterator keeps the monitor")
    #expect(await iterator.next() == nil)
    var late = sequence.makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  @Test("Cancelling the task ends the sequence")
  func cancellation() async throws {
    let bench = try Bench.started()
    for round in 0..<500 {
      let reader = Task { [monitor = bench.monitor] in
        var count = 0
        for await _ in monitor.updates() { count += 1 }
        return count
      }
      for _ in 0..<round % 10 { await Task.yield() }
      reader.cancel()
      #expect(await reader.value <= 1)
    }
  }

  @Test("A task that is cancelled first receives nothing")
  func cancelledBefore() async throws {
    let bench = try Bench.started()
    let reader = Task { [monitor = bench.monitor] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      var iterator = monitor.updates().makeAsyncIterator()
      return await iterator.next() == nil
    }
    #expect(await reader.value)
  }

  @Test("A released iterator ends its subscription")
  func iteratorDropped() async throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    do {
      var iterator = bench.monitor.updates(of: [], watching: [target]).makeAsyncIterator()
      #expect(await iterator.next()?.host?.target == target)
      #expect(bench.monitor.verdict(of: target) != nil)
    }
    #expect(bench.monitor.verdict(of: target) == nil)
  }

  @Test("Subscribers during changes miss nothing and receive nothing twice")
  func comeAndGo() async throws {
    let bench = try Bench.started()
    let storm = RaceTests.Storm(bench.kernel)
    let problems = await withTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask { [monitor = bench.monitor] in
          var problems: [String] = []
          for _ in 0..<20 {
            var last: UInt64?
            var count = 0
            for await update in monitor.updates(of: .all) {
              let number = update.snapshot.sequence
              let told = UInt64(update.skipped) + (update.transition == nil ? 0 : 1)
              if let last, number != last + told { problems.append("\(number) after \(last), \(told) told") }
              last = number
              count += 1
              if count > 20 { break }
            }
          }
          return problems
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    storm.end()
    #expect(problems.isEmpty)
  }
}
