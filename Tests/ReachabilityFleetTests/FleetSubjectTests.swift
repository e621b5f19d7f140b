import Testing

@testable import ReachabilityFleet

@Suite("FleetSubject")
struct FleetSubjectTests {
  @Test("An id with dots is one token, and is read back", arguments: ["db", "a.b", "..", "a..b.", ".x"])
  func dots(_ id: String) throws {
    let subjects: [FleetSubject] = [
      .events(id), .node(id), .verdict(id), .target(id), .request(id), .heartbeat(id), .ask(id), .changed(id),
    ]
    for subject in subjects {
      #expect((3...4).contains(subject.description.split(separator: ".", omittingEmptySubsequences: false).count))
      #expect(FleetSubject(subject.description) == subject)
    }
  }

  @Test(
    "Other texts are no subject",
    arguments: [
      "", "rx2.ev", "rx2.ev.", "rx2.other.a", "rx.ev.a", "rx2.ev.a.b", "rx2.ev.a=b", "rx2.roster.a", "rx2.roster.ev.a",
      "rx2.node.a", "rx2.roster.node.a.b",
    ])
  func others(_ text: String) { #expect(FleetSubject(text) == nil) }
}
