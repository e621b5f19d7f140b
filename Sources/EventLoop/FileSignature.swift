internal import Glibc

/// The metadata that changes when a file is written or replaced.
package struct FileSignature: Equatable, Sendable {
  private var device: UInt = 0
  private var inode: UInt = 0
  private var size = 0
  private var seconds = 0
  private var nanoseconds = 0
  /// Whether a regular file exists, not a pipe, directory or device.
  package private(set) var exists = false
  package private(set) var isRegular = false

  /// Reads the signature of a path; a missing file has a signature of zeros.
  package init(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return }
    exists = true
    isRegular = status.st_mode & S_IFMT == S_IFREG
    device = status.st_dev
    inode = status.st_ino
    size = status.st_size
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }
}
