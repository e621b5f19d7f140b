internal import TextSyntax

/// A hash that is equal in every process, so that targets keep their phase when the service restarts: FNV-1a, with a
/// finalizer because its low bits are not evenly distributed.
enum SchedulePhaseHash {
  static func of(_ text: String, seed: UInt64) -> UInt64 {
    var hash = FNV1aHash(seed: seed)
    hash.add(text.utf8)
    let mixed = (hash.value ^ (hash.value >> 33)) &* 0xff51_afd7_ed55_8ccd
    return mixed ^ (mixed >> 33)
  }
}
