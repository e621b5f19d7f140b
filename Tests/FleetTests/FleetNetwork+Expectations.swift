import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import TestSupport
import Testing

extension FleetNetwork {
  /// Everything that was changed is in the stream and at every subscriber, once, and no gap is.
  func expectNoLoss(since baselines: [Int], _ location: SourceLocation = #_sourceLocation) throws {
    try expectPublished(location)
    for index in agents.indices {
      let id = "node\(index)"
      #expect(record.faults(id) == [], sourceLocation: location)
      // Not the stream's last message by a direct get, which a server that is behind the others may answer.
      let last = try agents[index].lastChange()
      #expect(try reads(id, to: last), "the reader is behind", sourceLocation: location)
      let all = record.changes(id).map(\.number)
      let isAgain = record.agentMessages(id).contains { message in
        if case .changes(let batch) = message.content { batch.again } else { false }
      }
      #expect(!isAgain, "\(id) published again", sourceLocation: location)
      for (place, subscriber) in subscribers.enumerated() {
        #expect(
          eventually(within: .seconds(30)) { subscriber.numbers(id).last == all.last },
          "subscriber \(place) has no end of \(id): \(subscriber.gaps)", sourceLocation: location)
        let numbers = subscriber.numbers(id)
        #expect(numbers == all.suffix(numbers.count), "subscriber \(place) of \(id)", sourceLocation: location)
        #expect(numbers.count >= all.count - baselines[index], "subscriber \(place) of \(id)", sourceLocation: location)
      }
    }
    for subscriber in subscribers { #expect(subscriber.gaps == [], sourceLocation: location) }
    try expectConvergence(location)
  }

  /// Whether the stream has an agent's events up to a number.
  private func reads(_ id: String, to last: UInt64) throws -> Bool {
    if eventually(within: .seconds(20), { record.published(id) >= last }) { return true }
    if !connection.isConnected { try reconnect() }
    return eventually(within: .seconds(40)) { record.published(id) >= last }
  }

  /// How many changes of each agent the stream has.
  var baselines: [Int] { agents.indices.map { record.changes("node\($0)").count } }

  /// No event of an agent waits for the engine.
  func expectPublished(_ location: SourceLocation = #_sourceLocation) throws {
    for (index, agent) in agents.enumerated() {
      let isPublished = eventually(within: .seconds(60)) {
        let metrics = try? agent.get("/metrics")
        return metrics?.contains("reachd_fleet_connected 1\n") == true
          && metrics?.contains("reachd_fleet_outbox_events 0\n") == true
      }
      #expect(isPublished, "node\(index): \(agent.child.errors.suffix(2_000))", sourceLocation: location)
    }
  }

  /// All replicas have the states that the agents have, and all events with one id are one event.
  func expectConvergence(_ location: SourceLocation = #_sourceLocation) throws {
    let expected = try agents.enumerated().flatMap { index, agent in
      try states(agent.get("/targets?limit=1000"), "targets", "id").map { "node\(index) \($0)" }
    }.sorted()
    #expect(expected.count == agents.count * Self.targets, sourceLocation: location)
    for replica in replicas {
      var found: [String] = []
      let isEqual = eventually(within: .seconds(60)) {
        found =
          (try? states(replica.get("/fleet/matrix?limit=10000"), "cells", "target", "agent").sorted()) ?? []
        // A hostile agent may report what it wants about its own cells.
        found.removeAll { $0.hasPrefix("evil ") }
        return found == expected
      }
      #expect(
        isEqual, "\(replica.address) differs in \(Set(found).symmetricDifference(expected))", sourceLocation: location)
    }
    var known: [String: StreamEvent] = [:]
    for subscriber in subscribers {
      let ids = subscriber.events.compactMap(\.id)
      #expect(Set(ids).count == ids.count, "events twice", sourceLocation: location)
      for event in subscriber.events {
        guard let id = event.id else { continue }
        if let other = known[id] { #expect("\(other)" == "\(event)", sourceLocation: location) }
        known[id] = event
      }
    }
  }

  /// `node0 t1 up`, from a list of targets or cells.
  private func states(_ text: String, _ list: String, _ keys: String...) throws -> [String] {
    try JSONValue(text)[list]?.elements?.map { element in
      (keys.reversed().compactMap { element[$0]?.text } + [element["state"]?.text ?? ""]).joined(separator: " ")
    } ?? []
  }

  /// After a loss: one gap for each subscriber, or two for one that moved while a replica had not noticed it.
  func expectGaps(_ range: ClosedRange<Int>, _ location: SourceLocation = #_sourceLocation) {
    for subscriber in subscribers {
      #expect(
        eventually { range.contains(subscriber.gaps.count) }, "\(subscriber.gaps)", sourceLocation: location)
      for index in agents.indices {
        let origins = subscriber.origins("node\(index)")
        #expect(Set(origins).count == origins.count, "changes twice", sourceLocation: location)
      }
    }
  }

  /// The place of the server that leads the stream.
  func leader() throws -> Int {
    var found: Int?
    eventually(within: .seconds(30)) {
      let reply = try? connection.request("$JS.API.STREAM.INFO.\(FleetSubject.stream)", within: .seconds(2))
      let name = (try? JSONValue(bytes: reply?.payload ?? []))?["cluster"]?["leader"]?.text
      found = name?.last?.wholeNumberValue
      return found != nil
    }
    guard let found else {
      throw TestError("the stream has no leader: \(servers.map { $0.log.suffix(2_000) }.joined(separator: "\n\n"))")
    }
    return found
  }
}
