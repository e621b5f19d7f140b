internal import CEventLoop
internal import Glibc

/// Reports when the content of a file may have changed, by inotify(7).
///
/// A file is written in place, replaced by a rename, or reached through a symbolic link that now has another target:
/// systemd-resolved, Docker and Kubernetes each use one of these. The watcher watches the directory of the file and of
/// every link in its path, because a rename is an event of the directory. It also watches the file itself, because a
/// bind-mounted file is written in a directory that is not visible here. If a component of the path is missing, it
/// watches the directory in which that component would appear. It is confined to one thread.
package final class FileWatcher {
  /// Readable when an event occurred; −1 if the process had no descriptor left, and then no changes are reported.
  package let descriptor: Int32
  private var paths: [String]
  private var watches: [Int32: String] = [:]
  private var signatures: [FileSignature]

  /// Starts to watch files, which need not exist.
  ///
  /// - Parameters:
  ///   - paths: the files.
  ///   - known: the signatures of files that were read before; a file that differs from its own has changed.
  package init(_ paths: [String], since known: [String: FileSignature] = [:]) {
    self.paths = paths
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    signatures = paths.map { known[$0] ?? FileSignature($0) }
    watchAll()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Watches other files in place of the present ones, some of which may stay.
  package func watch(_ paths: [String]) {
    let known = Dictionary(zip(self.paths, signatures)) { $1 }
    self.paths = paths
    signatures = paths.map { known[$0] ?? FileSignature($0) }
    watchAll()
  }

  /// Reads the events and compares the files.
  ///
  /// - Returns: true when a file has changed since the last call.
  package func checkForChanges() -> Bool {
    if drain() { watchAll() }
    let current = paths.map { FileSignature($0) }
    defer { signatures = current }
    return current != signatures
  }

  /// Empties the queue; true when it contained events.
  private func drain() -> Bool {
    guard descriptor >= 0 else { return false }
    var hadEvents = false
    var buffer = [UInt8](repeating: 0, count: Limits.inotifyBytes)
    // The content of the events does not matter, nor does an overflow of the queue.
    while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 { hadEvents = true }
    return hadEvents
  }

  /// Watches the current components of each path, and nothing else.
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

  /// The directories whose entries determine the target of a path: those that contain a link of the path, and the last
  /// one, or the first with a missing component.
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
