internal import ReachabilityModel

/// What tunnel interfaces inherit from the interfaces beneath them, by the last answers about their endpoints.
struct EngineTunnelState {
  /// The tables of the last reading as the kernel reported them.
  private var tables = KernelTables()
  private var queries: [RouteQuery] = []
  private var answers: [RouteQuery: RouteAnswer] = [:]

  /// Sets the tables of a reading.
  ///
  /// - Returns: whether the result of ``apply(to:)`` may differ from that of the last reading.
  mutating func setTables(_ new: KernelTables, isFirst: Bool) -> Bool {
    let isNew = isFirst || new != tables
    if isNew {
      tables = new
      queries = TunnelRules.queries(in: new)
    }
    return isNew || !queries.isEmpty
  }

  /// The tables of a reading with the inherited properties, by its answers or, where it has none, the last ones.
  mutating func apply(to reading: KernelReading) -> KernelTables {
    if queries.isEmpty { answers = [:] }
    for query in queries { answers[query] = reading.answers[query] ?? answers[query] }
    return TunnelRules.applied(to: reading.tables, answers)
  }
}
