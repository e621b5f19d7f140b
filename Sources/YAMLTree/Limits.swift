/// What a document may cost.
///
/// A configuration file is written by a person; anything above these is a mistake or an attack.
enum Limits {
  /// Longest document, in bytes: 4 MiB hold 10,000 targets of 400 bytes each.
  static let documentBytes = 1 << 22

  /// Deepest nesting, in collections: the deepest documented key path has 5 levels; 64 keeps the recursive reader far
  /// away from the end of a 512 KiB thread stack.
  static let depth = 64
}
