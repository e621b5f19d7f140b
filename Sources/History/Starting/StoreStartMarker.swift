internal import Database

/// The file that exists from before the database is opened until its states are restored; its size is the number of
/// starts in a row that have left it behind.
///
/// The size and not the content: it can be changed on a full disk, and there is no content to parse. It is not synchronized
/// with the disk: after a power failure it may not exist, and the database is opened as usual.
struct StoreStartMarker {
  static let name = "starting"

  /// A larger size is none of this program's.
  private static let largest = 100

  private let file: DataDirectoryFile

  init(_ directory: DataDirectory) { file = DataDirectoryFile(Self.name, in: directory.path) }

  /// Counts this start.
  ///
  /// - Returns: the number before; 1 for a size that this program does not write.
  /// - Throws: the failed system call; this start is not counted then.
  func countUp() throws(DatabaseFileError) -> Int {
    let size = file.size
    let unfinished = size <= Self.largest ? size : 1
    // A file of an interrupted creation is empty.
    let found = unfinished == 0 && file.exists ? 1 : unfinished
    try file.resize(to: min(found + 1, Self.largest))
    return found
  }

  /// Records a higher number.
  func advance(to count: Int) throws(DatabaseFileError) { try file.resize(to: count) }

  func remove() throws(DatabaseFileError) { try file.remove() }
}
