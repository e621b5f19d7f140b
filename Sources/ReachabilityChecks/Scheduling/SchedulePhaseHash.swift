/// A hash that is equal in every process, so that targets keep their phase when the service restarts: FNV-1a, with a
/// finalizer because its low bits are not evenly distributed.
enum SchedulePhaseHash {
  static func of(_ text: String, seed: UInt64) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
    return hash ^ (hash >> 33)
  }
}
