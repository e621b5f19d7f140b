internal import TextSyntax

/// A hash that is the same on every machine and in every version: FNV-1a with the finalizer of SplitMix64.
struct FleetHash {
  private var state = FNV1aHash()

  /// Adds a text and its end, so that two texts do not equal another two.
  mutating func add(_ text: String) {
    state.add(text.utf8)
    add(UInt8.max)
  }

  mutating func add(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }

  mutating func add(_ byte: UInt8) { state.add(byte) }

  var value: UInt64 {
    var mixed = (state.value ^ (state.value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
