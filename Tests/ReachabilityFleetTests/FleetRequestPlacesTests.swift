import Testing

@testable import ReachabilityFleet

@Suite("Places for requests")
struct FleetRequestPlacesTests {
  private var places = FleetRequestPlaces()

  /// How many of some requests on one subject get a place.
  private mutating func take(_ count: Int, _ subject: FleetSubject) -> Int {
    var taken = 0
    for _ in 0..<count where places.take(subject) { taken += 1 }
    return taken
  }

  @Test("An agent that does not answer leaves places for the others, and a place that is free is taken again")
  mutating func agents() {
    let evil = take(100, .ask("evil"))
    #expect(evil == FleetRequestPlaces.limitPerAgent)
    // A check by the most agents.
    for number in 0..<32 {
      let others = take(1, .ask("a\(number)"))
      #expect(others == 1, "\(number)")
    }
    places.release(.ask("evil"))
    let again = take(2, .ask("evil"))
    #expect(again == 1)
  }

  @Test("All requests together have a limit, also those to replicas")
  mutating func limit() {
    let all = take(1000, .request("a"))
    #expect(all == FleetRequestPlaces.limit)
    let more = take(1, .ask("b"))
    #expect(more == 0)
    places.release(.request("a"))
    let free = take(2, .ask("b"))
    #expect(free == 1)
    // The places of one subject are not those of another one.
    for _ in 0..<FleetRequestPlaces.limit { places.release(.ask("b")) }
    let last = take(100, .ask("b"))
    #expect(last == FleetRequestPlaces.limitPerAgent)
  }
}
