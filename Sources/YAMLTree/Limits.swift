/// Limits on one document.
///
/// A person writes a configuration file; anything above these limits is a mistake or an attack.
enum Limits {
  /// The longest document, in bytes: 4 MiB hold 10,000 targets of 400 bytes each.
  static let documentBytes = 1 << 22

  /// The deepest nesting, in collections.
  ///
  /// The deepest documented key path has 5 levels. 64 keeps the recursive reader within a thread stack of 512 KiB.
  static let depth = 64
}
