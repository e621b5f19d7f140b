internal import History
internal import NetworkReachability

extension Sample {
  /// The sample of a result; only an answer has a latency.
  init(_ result: CheckResult) {
    let state: State =
      switch result.state {
      case .up: .up
      case .down: .down
      case .unreachable: .unreachable
      case .unknown: .unknown
      }
    let microseconds = Int64(result.duration / .microseconds(1))
    self.init(
      time: result.startedAt.microseconds / 1_000, latency: state == .up ? UInt32(clamping: microseconds) : nil,
      state: state)
  }
}

extension HistoryKeeper {
  /// Records the results of registered targets' checks, by their ids.
  var resultHandler: @Sendable (_ id: String, _ result: CheckResult) -> Void {
    { [self] id, result in record(Sample(result), of: HistorySubject.target(id)) }
  }
}
