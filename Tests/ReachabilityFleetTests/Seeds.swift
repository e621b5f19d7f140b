import Glibc

/// How many seeds a test runs: a few in `make test`, more in a verb of its own.
enum Seeds {
  static let count: UInt64 = {
    guard let value = unsafe getenv("REACHD_FLEET_SEEDS") else { return 300 }
    return UInt64(unsafe String(cString: value)) ?? 300
  }()
}
