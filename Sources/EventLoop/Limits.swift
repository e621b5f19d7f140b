/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Superseded entries that a timer queue keeps beside twice its timers: below this number a rebuild costs more than
  /// the memory, about 24 bytes each, is worth.
  static let supersededTimers = 4_096

  /// Bytes of a thread's name, without the final zero (pthread_setname_np(3)).
  static let threadNameBytes = 15
}
