/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Superseded entries that a timer queue keeps beside twice its timers: below this number a rebuild costs more than
  /// the memory, about 24 bytes each, is worth.
  static let supersededTimers = 4_096

  /// The duration of a turn from which a loop is stalled: the longest turn of a healthy loop takes less than a second, also on
  /// a slow machine, and a check's shortest timeouts are of this order.
  static let stall: Duration = .seconds(2)

  /// The interval in which loops are sampled: a stall is reported half a second late, and each sample costs some microseconds.
  static let watchInterval: Duration = .milliseconds(500)

  /// Bytes of a thread's name, without the final zero (pthread_setname_np(3)).
  static let threadNameBytes = 15

  /// The size in bytes of the buffer for inotify(7) events: an event has 16 bytes and a name of up to 256.
  ///
  /// Events that do not fit stay in the kernel's queue.
  static let inotifyBytes = 4_096

  /// Symbolic links followed in a path, as in the kernel (path_resolution(7)).
  static let symbolicLinks = 40
}
