internal import Glibc

extension DataDirectory {
  /// Gives files other names, which no other file has; files that do not exist are skipped.
  ///
  /// Each file has both names for a moment. A kill in between loses none: SQLite would delete a write-ahead log whose
  /// database has another name already.
  ///
  /// - Parameters:
  ///   - names: the present and the new names.
  ///   - record: records the renaming; called before a file loses its name, or after it on a file system without hard links.
  /// - Throws: the failed system call, with EEXIST for a name that is in use; some files may have both names then.
  public func rename(
    _ names: [(present: String, new: String)], recording record: () -> Void
  ) throws(DatabaseFileError) {
    let found = names.filter { DataDirectoryFile($0.present, in: path).exists }
    var linked: Set<String> = []
    for (present, new) in found {
      if unsafe link("\(path)/\(present)", "\(path)/\(new)") == 0 {
        linked.insert(present)
      } else if ![EPERM, EOPNOTSUPP, EMLINK, ENOSYS].contains(errno) {
        // Those are of directories, and of file systems without hard links.
        throw DatabaseFileError("link", "\(path)/\(new)")
      }
    }
    if !linked.isEmpty { record() }
    for (present, new) in found {
      guard linked.contains(present) else {
        try renameUnlinked(present, to: new)
        continue
      }
      guard unsafe unlink("\(path)/\(present)") != 0, errno != ENOENT else { continue }
      throw DatabaseFileError("unlink", "\(path)/\(present)")
    }
    if linked.isEmpty, !found.isEmpty { record() }
  }

  private func renameUnlinked(_ name: String, to new: String) throws(DatabaseFileError) {
    // The lock of the directory excludes a file that appears after this.
    guard !DataDirectoryFile(new, in: path).exists else {
      throw DatabaseFileError(operation: "rename", path: "\(path)/\(new)", errno: EEXIST)
    }
    try rename(name, to: new)
  }
}
