internal import EventLoop

/// The order in which connections are ended when their memory or their number is at its limit.
///
/// First those whose exchange is unfinished for the longest time: incomplete requests, responses that the client does not
/// read, and connections between two requests. Other clients finish an exchange within milliseconds. Then the long polls
/// that wait for the longest time. A share of the limit is kept for the newest unfinished exchanges, so that many long
/// polls do not leave a new client without the time to send its request.
enum ConnectionDisplacement {
  enum Role {
    /// The request is incomplete, the response is not received, or there is no request.
    case unfinished
    /// A long poll.
    case waiting
  }

  struct Candidate {
    let token: UInt64
    /// When the exchange or the wait began.
    let since: MonotonicInstant
    let role: Role
    /// What its end frees, in bytes or connections.
    let weight: Int
  }

  /// What a connection in a phase does, if it may be ended for that; nil for one that is being served.
  static func role(in phase: HTTPConnectionPhase, _ charge: ConnectionCharge) -> Role? {
    switch phase {
    case .accepted, .idle, .head, .body: .unfinished
    case .repeated, .received, .closed: nil
    // A response that the client does not read.
    case .answered: charge.exchange + charge.socket > 0 ? .unfinished : nil
    case .deferred(let deferral): deferral.wait != nil && deferral.reply == nil ? .waiting : nil
    // A stream stays if its client reads.
    case .streaming: charge.socket > 0 ? .unfinished : nil
    }
  }

  /// Chooses the connections to end.
  ///
  /// - Parameters:
  ///   - candidates: those that may be ended.
  ///   - excess: what must be freed.
  ///   - share: what unfinished exchanges keep while there are long polls.
  /// - Returns: the connections in the order in which they are ended; all of them if that is not enough.
  static func choose(_ candidates: [Candidate], excess: Int, protecting share: Int) -> [Candidate] {
    let ordered = candidates.sorted { ($0.since, $0.token) < ($1.since, $1.token) }
    var unfinished = ordered.filter { $0.role == .unfinished }[...]
    var waiting = ordered.filter { $0.role == .waiting }[...]
    var rest = unfinished.reduce(0) { $0 + $1.weight }
    var chosen: [Candidate] = []
    var freed = 0
    while freed < excess {
      let next = waiting.isEmpty || rest > share ? unfinished.popFirst() ?? waiting.popFirst() : waiting.popFirst()
      guard let next else { break }
      if next.role == .unfinished { rest -= next.weight }
      freed += next.weight
      chosen.append(next)
    }
    return chosen
  }
}
