internal import Glibc
internal import ReachabilityModel

/// The types of devices from `/sys/class/net`, read once for each (index, name).
///
/// The directory is optional: containers may have none, or the one of another network namespace, which a comparison of
/// the index detects. (Devices with the same index and name in both namespaces cannot be distinguished.)
struct SysfsReader {
  /// `DEVTYPE` of the device's uevent, as far as it is used here.
  enum DeviceType {
    case wlan
    case wwan
  }

  private struct Entry {
    var name: String
    var type: DeviceType?
  }

  private let root: String
  private var entries: [UInt32: Entry] = [:]

  /// A reader of `root`, usually `/sys/class/net`.
  init(root: String) { self.root = root }

  /// The type of a device; nil when there is none or sysfs belongs to another namespace.
  mutating func deviceType(index: UInt32, name: String) -> DeviceType? {
    if let entry = entries[index], entry.name == name { return entry.type }
    let type = read(index: index, name: name)
    entries[index] = Entry(name: name, type: type)
    return type
  }

  /// Removes what is stored about devices that no longer exist.
  mutating func removeAll(except links: [NetlinkLinkMessage]) {
    guard entries.count > links.count else { return }
    let indexes = Set(links.map(\.interface.index))
    entries = entries.filter { indexes.contains($0.key) }
  }

  private func read(index: UInt32, name: String) -> DeviceType? {
    // The kernel forbids both in names; the path must nevertheless stay inside the directory.
    guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else { return nil }
    let directory = "\(root)/\(name)"
    guard let own = lines(of: "\(directory)/ifindex")?.first, UInt32(own) == index else { return nil }
    let events = lines(of: "\(directory)/uevent") ?? []
    if events.contains("DEVTYPE=wwan") { return .wwan }
    let isWireless =
      events.contains("DEVTYPE=wlan") || exists("\(directory)/phy80211") || exists("\(directory)/wireless")
    return isWireless ? .wlan : nil
  }

  private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private func lines(of path: String) -> [Substring]? {
    let opened = NetlinkSyscall.raw { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    guard opened >= 0 else { return nil }
    let descriptor = NetlinkDescriptor(Int32(opened))
    var bytes = [UInt8](repeating: 0, count: Limits.sysfsFile)
    let count = NetlinkSyscall.raw { () -> Int in
      unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count) }
    }
    guard count >= 0 else { return nil }
    return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
  }
}
