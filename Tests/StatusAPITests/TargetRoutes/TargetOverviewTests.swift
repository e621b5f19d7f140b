import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

@Suite struct TargetOverviewTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { request in
      TargetRoutesTests.result(request.target.port == 1 ? .down : .up, request.target.port == 1 ? .refused : nil)
    }
    for (id, port, labels) in [
      ("b", 1, #"{"env": "prod"}"#), ("a", 2, #"{"env": "test"}"#), ("c", 3, #"{"env": "prod"}"#),
    ] {
      _ = try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:\#(port)", "labels": \#(labels)}"#)
    }
  }

  /// The columns as one dictionary per target.
  private func rows(_ query: String = "") throws -> [[String: Any]] {
    let document = try service.ask("/targets/overview\(query)").object()
    let columns = ["id", "target", "state", "reason", "label", "since", "flags", "latency"]
    let count = try #require(document["id"] as? [String]).count
    for column in columns { #expect((document[column] as? [Any])?.count == count, "\(column)") }
    let names = try #require(document["states"] as? [String])
    let reasons = try #require(document["reasons"] as? [Any])
    let labels = try #require(document["labels"] as? [[String: String]])
    return try (0..<count).map { index in
      func value(_ column: String) throws -> Int { try #require((document[column] as? [Int])?[index]) }
      return [
        "id": try #require((document["id"] as? [String])?[index]), "state": names[try value("state")],
        "reason": reasons[try value("reason")], "labels": labels[try value("label")],
      ]
    }
  }

  @Test func columnsAgreeWithTheList() throws {
    let isSettled = eventually {
      guard let states = try? rows().map({ $0["state"] as? String }) else { return false }
      return !states.contains("unknown")
    }
    #expect(isSettled)
    let list = try #require(try service.ask("/targets").object()["targets"] as? [[String: Any]])
    let overview = try rows()
    #expect(overview.map { $0["id"] as? String } == ["a", "b", "c"])
    for (row, item) in zip(overview, list) {
      #expect(row["id"] as? String == item["id"] as? String)
      #expect(row["state"] as? String == item["state"] as? String)
      #expect(row["reason"] as? String == item["reason"] as? String)
      #expect(row["labels"] as? [String: String] == item["labels"] as? [String: String])
    }
  }

  @Test(arguments: [
    ("?id=a&id=c", ["a", "c"]), ("?id=none", []), ("?label=env=prod", ["b", "c"]), ("?id=a&label=env=prod", []),
  ])
  func querySelects(query: String, ids: [String]) throws {
    #expect(try rows(query).map { $0["id"] as? String } == ids)
  }

  @Test func tooManyAndInvalidIDsAreRefused() throws {
    let many = (0...64).map { "id=t\($0)" }.joined(separator: "&")
    #expect(try service.problem("/targets/overview?\(many)") == "badRequest")
    #expect(try service.problem("/targets/overview?id=A") == "badRequest")
    #expect(try service.problem("/targets/overview?state=lost") == "badRequest")
  }

  @Test func tagChangesWithEvents() throws {
    let first = try service.ask("/targets/overview")
    let tag = try #require(first.headers["ETag"])
    let event = try #require(first.headers["Last-Event-ID"])
    #expect(tag.contains(event))
    _ = try service.send("PUT", "/targets/d", #"{"target": "tcp://10.0.0.9:4"}"#)
    #expect(try service.ask("/targets/overview", ["If-None-Match": tag]).status == 200)
    let next = try service.ask("/targets/overview")
    #expect(next.headers["Last-Event-ID"] != event)
  }

  @Test func noTargetIsNamedOverview() throws {
    #expect(try service.send("PUT", "/targets/overview", #"{"target": "tcp://10.0.0.9:4"}"#).status == 405)
    let posted = try service.send("POST", "/targets", #"{"id": "overview", "target": "tcp://10.0.0.9:4"}"#)
    #expect(posted.status == 422)
  }
}
