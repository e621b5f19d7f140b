internal import CAres
internal import Glibc

/// Tells when a file's content may have changed, by inotify(7): written in place, replaced by a rename, or behind a
/// symbolic link that now leads elsewhere, as systemd-resolved, Docker and Kubernetes each do it.
///
/// Watched are the directory of every link on the way and of the file, because a rename is an event of the directory, and
/// the file itself, because one that is mounted over another is written in a directory that we cannot see. Where a part of
/// the way is missing, the directory in which it would appear is watched. It belongs to one thread.
final class FileWatcher {
  /// Readable when something happened; −1 if the process had no descriptor left, and then nothing is told.
  let descriptor: Int32
  private let paths: [String]
  private var watches: [Int32: String] = [:]
  private var signatures: [FileSignature]

  /// Begins to watch files, which need not exist.
  init(_ paths: [String]) {
    self.paths = paths
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    signatures = paths.map { FileSignature($0) }
    watchAll()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads what happened and looks at the files.
  ///
  /// - Returns: true when one of them is another than at the last look.
  func checkForChanges() -> Bool {
    if drain() { watchAll() }
    let current = paths.map { FileSignature($0) }
    defer { signatures = current }
    return current != signatures
  }

  /// Empties the queue; true when there was anything in it.
  private func drain() -> Bool {
    guard descriptor >= 0 else { return false }
    var hadEvents = false
    var buffer = [UInt8](repeating: 0, count: Limits.inotifyBytes)
    // What happened does not matter, only that it did: also that the queue ran over.
    while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 { hadEvents = true }
    return hadEvents
  }

  /// Watches what lies on the way to each file now, and nothing else.
  private func watchAll() {
    guard descriptor >= 0 else { return }
    var current: [Int32: String] = [:]
    for path in paths {
      for directory in Self.directories(on: path) {
        let entries = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE
        let events = UInt32(entries | IN_DELETE_SELF | IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
        let number = unsafe inotify_add_watch(descriptor, directory, events)
        if number >= 0 { current[number] = directory }
      }
      let number = unsafe inotify_add_watch(descriptor, path, UInt32(IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF))
      if number >= 0 { current[number] = path }
    }
    for number in watches.keys where current[number] == nil { inotify_rm_watch(descriptor, number) }
    watches = current
  }

  /// The directories whose entries decide where a path leads: those that hold a link on the way, and the last one, or the
  /// first in which something is missing.
  static func directories(on path: String) -> [String] {
    var found: [String] = []
    var rest = path.split(separator: "/").map(String.init)[...]
    var directory = "/"
    var links = 0
    while let name = rest.popFirst() {
      if name == "." { continue }
      if name == ".." {
        directory = parent(of: directory)
        continue
      }
      let full = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
      if let target = linkTarget(full) {
        found.append(directory)
        links += 1
        guard links <= Limits.symbolicLinks else { break }
        if target.hasPrefix("/") { directory = "/" }
        rest = (target.split(separator: "/").map(String.init) + rest)[...]
      } else if rest.isEmpty || !exists(full) {
        found.append(directory)
        break
      } else {
        directory = full
      }
    }
    return found
  }

  private static func parent(of directory: String) -> String {
    let parts = directory.split(separator: "/").dropLast()
    return "/" + parts.joined(separator: "/")
  }

  private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func linkTarget(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
