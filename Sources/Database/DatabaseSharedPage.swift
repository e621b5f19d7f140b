internal import Glibc
internal import Synchronization

/// A page of memory that outlives the process, and not the machine: a mapped file on a tmpfs.
///
/// Writing a word is a store to memory, without a system call; it survives SIGKILL.
@safe public final class DatabaseSharedPage: Sendable {
  /// The words of a page.
  public static let count = 512
  private static let size = count * MemoryLayout<UInt64>.size

  private let words: SendablePointer

  @safe private struct SendablePointer: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt64>
  }

  /// Maps a file of one page, and creates it with mode 0600 and zeros if it does not exist.
  ///
  /// A file of another user or with other names is refused: the directory may be writable for everyone.
  ///
  /// - Throws: the failed system call.
  public init(_ path: String) throws(DatabaseFileError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
    guard descriptor >= 0 else { throw DatabaseFileError("open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw DatabaseFileError("fstat", path) }
    guard status.st_uid == geteuid(), status.st_nlink == 1, status.st_mode & S_IFMT == S_IFREG else {
      throw DatabaseFileError(operation: "open", path: path, errno: EPERM)
    }
    // Allocated now: a write to a page of a full tmpfs would be SIGBUS.
    let code = posix_fallocate(descriptor, 0, off_t(Self.size))
    guard code == 0 else { throw DatabaseFileError(operation: "posix_fallocate", path: path, errno: code) }
    let mapped = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { throw DatabaseFileError("mmap", path) }
    unsafe words = SendablePointer(start: mapped.bindMemory(to: UInt64.self, capacity: Self.count))
  }

  /// Renames the file of a page, which stays mapped; the new name replaces a file of that name.
  ///
  /// - Throws: the failed system call.
  public static func move(_ path: String, to new: String) throws(DatabaseFileError) {
    guard unsafe rename(path, new) == 0 else { throw DatabaseFileError("rename", path) }
  }

  deinit { unsafe munmap(words.start, Self.size) }

  /// A word of the page; every access is ordered before and after all others of any thread.
  public subscript(index: Int) -> UInt64 {
    get {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      return unsafe words.start[index]
    }
    set {
      unsafe words.start[index] = newValue
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
  }
}
