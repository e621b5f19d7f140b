internal import Names

/// The echo requests that are under way, by sequence number.
///
/// Numbers are given one after the other, so that a reply that comes back late is known as late. The last bits of a number
/// are its place in a table that doubles when it is half full: nothing is hashed and nothing is moved.
struct EchoFlights {
  struct Flight {
    let sequence: UInt16
    let exchange: EchoExchange
    /// When it left.
    var left: Instant
    /// The same moment in nanoseconds of CLOCK_REALTIME.
    var leftReal: Int64 = 0
  }

  private var places: [Flight?]
  private var last: UInt16
  private(set) var count = 0

  /// None under way; the first number is the one after `last`.
  init(after last: UInt16 = .random(in: 0...UInt16.max)) {
    self.last = last
    places = Array(repeating: nil, count: Limits.echoPlaces)
  }

  /// Gives the exchange the next number that is free; nil if too many are under way.
  mutating func depart(_ exchange: EchoExchange, _ now: Instant) -> UInt16? {
    guard count < Limits.echoesOpen else { return nil }
    if count * 2 >= places.count { grow() }
    repeat { last &+= 1 } while places[place(last)] != nil
    places[place(last)] = Flight(sequence: last, exchange: exchange, left: now)
    count += 1
    return last
  }

  /// Corrects the moment when one left.
  mutating func note(_ sequence: UInt16, left: Instant, real: Int64) {
    let place = place(sequence)
    guard places[place]?.sequence == sequence else { return }
    places[place]?.left = left
    places[place]?.leftReal = real
  }

  subscript(sequence: UInt16) -> Flight? {
    guard let flight = places[place(sequence)], flight.sequence == sequence else { return nil }
    return flight
  }

  /// Takes one out; nil if it is not under way.
  @discardableResult
  mutating func land(_ sequence: UInt16) -> Flight? {
    guard let flight = self[sequence] else { return nil }
    places[place(sequence)] = nil
    count -= 1
    return flight
  }

  private func place(_ sequence: UInt16) -> Int { Int(sequence) & (places.count - 1) }

  /// Two that had places of their own still have: the number of places divides the number of numbers.
  private mutating func grow() {
    let flights = places
    places = Array(repeating: nil, count: flights.count * 2)
    for case let flight? in flights { places[place(flight.sequence)] = flight }
  }
}
