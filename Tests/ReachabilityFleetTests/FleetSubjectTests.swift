import Testing

@testable import ReachabilityFleet

@Suite("FleetSubject")
struct FleetSubjectTests {
  @Test("An id with dots is one token, and is read back", arguments: ["db", "a.b", "..", "a..b.", ".x"])
  func dots(_ id: String) throws {
    for subject: FleetSubject in [.events(id), .node(id), .verdict(id), .target(id), .heartbeat(id), .ask(id)] {
      #expect(subject.description.split(separator: ".", omittingEmptySubsequences: false).count == 3)
      #expect(FleetSubject(subject.description) == subject)
    }
  }

  @Test(
    "Other texts are no subject", arguments: ["", "rx.ev", "rx.ev.", "rx.other.a", "ry.ev.a", "rx.ev.a.b", "rx.ev.a=b"])
  func others(_ text: String) { #expect(FleetSubject(text) == nil) }
}
