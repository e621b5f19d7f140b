internal import CSQLite

extension DataDirectory {
  /// A network file system's name; nil for other file systems.
  ///
  /// SQLite's write-ahead log needs memory that all processes share, and locks that work.
  public static func networkFileSystem(at path: String) -> String? {
    // linux/magic.h.
    switch unsafe CSQLite_file_system(path) {
    case 0x6969: "NFS"
    case 0x517B, 0xFE53_4D42: "SMB"
    case 0xFF53_4D42: "CIFS"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x00C3_6400: "Ceph"
    default: nil
    }
  }
}
