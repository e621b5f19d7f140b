extension Duration {
  /// Whole nanoseconds.
  var nanoseconds: Int64 { Int64(attoseconds / 1_000_000_000) }

  /// Whole ticks of the wheel; the quotient of two durations is a `Double`, which may be less for exact multiples.
  var ticks: Int { Int(nanoseconds / Limits.wheelTick.nanoseconds) }
}
