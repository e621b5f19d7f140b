import EmbeddedHTTPServer
import Locks
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import StatusAPI

/// Two clients change one target at the same time: the stream has the other one's message first.
@Suite("Contended changes of a target")
struct FleetContentionTests {
  private static let body = #"{"target":"tcp://192.0.2.9:1"}"#

  /// A fleet in which another client's changes of `db` come first, so often; nil is a deletion.
  private static func fleet(_ changes: [String?], exists: Bool = true) throws -> FleetFixture {
    let fleet = try FleetFixture()
    if exists {
      try #require(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    }
    let rest = Locked(changes)
    fleet.engine.beforePublications { [engine = fleet.engine, services = fleet.services] subject in
      guard subject == .target("db"), let change = rest.withLock({ $0.isEmpty ? nil : .some($0.removeFirst()) }) else {
        return
      }
      var spec = TargetSpec()
      spec.id = "db"
      spec.target = change
      let version = services[0].snapshot.fold.version(of: "db") + 1
      engine.publish(
        .definition(
          DefinitionMessage(id: "db", version: version, definition: change == nil ? nil : FleetTarget(spec: spec))))
    }
    return fleet
  }

  private static func target(_ fleet: FleetFixture) throws -> String? {
    try fleet.ask("/fleet/targets/db").object()["target"] as? String
  }

  @Test("A PUT without a precondition is the later change, whatever came first")
  func put() throws {
    for changes in [["tcp://x:2"], ["tcp://x:2", "tcp://x:3", "tcp://x:4"]] {
      let fleet = try Self.fleet(changes)
      #expect(try fleet.put("db", Self.body).status == 200)
      #expect(try Self.target(fleet) == "tcp://192.0.2.9:1")
      #expect(fleet.services[0].snapshot.fold.version(of: "db") == UInt64(changes.count) + 2)
    }
    let deleted = try Self.fleet([nil])
    #expect(try deleted.put("db", Self.body).status == 201)
    let created = try Self.fleet(["tcp://x:2"], exists: false)
    #expect(try created.put("db", Self.body).status == 200)
    #expect(try Self.target(created) == "tcp://192.0.2.9:1")
    let equal = try Self.fleet(["tcp://192.0.2.9:1"])
    #expect(try equal.put("db", Self.body).status == 200)
  }

  @Test("A precondition that does not hold any longer is 412, one that holds is not")
  func preconditions() throws {
    let fleet = try Self.fleet(["tcp://x:2"])
    #expect(try fleet.put("db", Self.body, ["If-Match": "\"1\""]).status == 412)
    #expect(try Self.target(fleet) == "tcp://x:2")
    let existing = try Self.fleet(["tcp://x:2"])
    #expect(try existing.put("db", Self.body, ["If-Match": "*"]).status == 200)
    let deleted = try Self.fleet([nil])
    #expect(try deleted.put("db", Self.body, ["If-Match": "*"]).status == 412)
    let created = try Self.fleet(["tcp://x:2"], exists: false)
    #expect(try created.put("db", Self.body, ["If-None-Match": "*"]).status == 412)
    let other = try Self.fleet(["tcp://x:2"])
    #expect(try other.ask("/fleet/targets/db", ["If-Match": "\"1\""], method: "DELETE").status == 412)
  }

  @Test("A POST of a target that another client has created is 409")
  func creation() throws {
    let fleet = try Self.fleet(["tcp://x:2"], exists: false)
    let body = #"{"id":"db","target":"tcp://192.0.2.9:1"}"#
    #expect(try fleet.ask("/fleet/targets", method: "POST", body: body).status == 409)
    #expect(try Self.target(fleet) == "tcp://x:2")
  }

  @Test("A DELETE deletes what another client has defined, or has deleted")
  func deletion() throws {
    for change in ["tcp://x:2", nil] {
      let fleet = try Self.fleet([change])
      #expect(try fleet.ask("/fleet/targets/db", method: "DELETE").status == 204)
      #expect(try fleet.ask("/fleet/targets/db").status == 404)
    }
  }

  @Test("After many changes by others the response is 409, for PUT and DELETE")
  func exhausted() throws {
    let fleet = try Self.fleet((0..<100).map { "tcp://x:\($0 + 2)" })
    #expect(try fleet.put("db", Self.body).status == 409)
    #expect(try fleet.ask("/fleet/targets/db", method: "DELETE").status == 409)
  }
}
