internal import Glibc

/// The identity of a network namespace: the file system and the inode of its file in `/proc` (namespaces(7)).
///
/// The kernel assigns the inode again only after the namespace was removed, and a socket keeps its namespace.
struct NetworkNamespace: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// The namespace of the calling thread, in which it opens sockets; nil when `/proc` is not mounted.
  static var current: NetworkNamespace? {
    var status = stat()
    guard unsafe stat("/proc/thread-self/ns/net", &status) == 0 else { return nil }
    return NetworkNamespace(device: status.st_dev, inode: status.st_ino)
  }
}
