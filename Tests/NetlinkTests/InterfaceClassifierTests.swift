import Glibc
import ReachabilityModel
import Testing

@testable import Netlink

/// The order in which an interface's facts decide its type.
struct InterfaceClassifierTests {
  func link(
    _ index: UInt32, _ name: String, kind: String? = nil, hardware: UInt16 = 1, lower: UInt32? = nil,
    master: UInt32? = nil, parent: String? = nil, flags: Interface.Flags = .up
  ) -> NetlinkLinkMessage {
    NetlinkLinkMessage(
      interface: Interface(
        index: index, name: name, type: .other, flags: flags, operationalState: .up, lowerIndex: lower, kind: kind,
        hardwareType: hardware),
      masterIndex: master, parentDevice: parent)
  }

  func types(_ links: [NetlinkLinkMessage], sysfsRoot: String = "/nowhere") -> [InterfaceType] {
    var classifier = InterfaceClassifier(sysfsRoot: sysfsRoot)
    return classifier.classify(links).map(\.type)
  }

  @Test(
    arguments: [
      ("lo", nil, 772, InterfaceType.loopback),
      ("eth0", nil, 1, .ethernet),
      ("wwan0", "wwan", 519, .wwan), ("rmnet_data0", "rmnet", 519, .wwan), ("x0", "wwan", 65534, .wwan),
      ("ppp0", nil, 512, .ppp), ("ppp0", "ppp", 512, .ppp), ("ppp0", "tun", 512, .ppp),
      ("x0", nil, 519, .wwan), ("x0", "tun", 519, .wwan), ("x0", nil, 530, .wwan),
      ("tun0", "tun", 65534, .tunnel), ("tap0", "tun", 1, .tunnel), ("wg0", "wireguard", 65534, .tunnel),
      ("tunl0", "ipip", 768, .tunnel), ("gre0", "gre", 778, .tunnel), ("sit0", "sit", 776, .tunnel),
      ("x0", "xfrm", 65534, .tunnel), ("x0", nil, 769, .tunnel), ("x0", nil, 823, .tunnel),
      ("wwan0", nil, 1, .wwan), ("wwp0s20u4", nil, 1, .wwan), ("ccmni0", nil, 65533, .wwan),
      ("wwan0", "tun", 65534, .tunnel),
      ("docker0", "bridge", 1, .ethernet), ("veth1", "veth", 1, .ethernet), ("can0", nil, 280, .other),
    ] as [(String, String?, UInt16, InterfaceType)])
  func byItself(_ name: String, _ kind: String?, _ hardware: UInt16, _ type: InterfaceType) {
    #expect(types([link(7, name, kind: kind, hardware: hardware)]) == [type])
  }

  @Test func configuredTypeOverridesTheDetectedOne() {
    var classifier = InterfaceClassifier(
      sysfsRoot: "/nowhere",
      overrides: [
        InterfaceOverride(match: "usb*", type: .wwan, isConstrained: true),
        InterfaceOverride(match: "modem0", isExpensive: false), InterfaceOverride(match: "eth1", isExpensive: true),
      ])
    let interfaces = classifier.classify([
      link(2, "usb0"), link(3, "vlan0", kind: "vlan", lower: 2), link(4, "modem0", hardware: 519), link(5, "eth0"),
      link(6, "eth1"), link(7, "modem1", hardware: 519),
    ])
    #expect(interfaces.map(\.type) == [.wwan, .wwan, .wwan, .ethernet, .ethernet, .wwan])
    #expect(interfaces.map(\.isExpensive) == [true, true, false, false, true, true])
    #expect(interfaces.map(\.isConstrained) == [true, false, false, false, false, false])
    #expect(interfaces.map(\.isWWAN) == [true, true, true, false, false, true])
    #expect(interfaces.map(\.hasDeclaredCost) == [true, false, true, false, true, false])
  }

  @Test func stackedDeviceHasTheTypeOfItsLowerDevice() {
    let links = [
      link(2, "modem0", hardware: 519), link(3, "vlan0", kind: "vlan", lower: 2),
      link(4, "mac0", kind: "macvlan", lower: 3), link(5, "lost", kind: "vlan", lower: 99),
    ]
    #expect(types(links) == [.wwan, .wwan, .wwan, .ethernet])
  }

  @Test func masterHasTheTypeOfItsUplink() {
    let links = [
      link(2, "tap0", kind: "tun", master: 9), link(3, "veth0", kind: "veth", master: 9),
      link(4, "rmnet0", hardware: 519, master: 9, parent: "1-1"), link(9, "br0", kind: "bridge"),
    ]
    #expect(types(links).last == .wwan)
    #expect(types([links[0], links[3]]).last == .ethernet)
  }

  @Test func circularDevicesTerminate() {
    let links = [
      link(2, "a", kind: "veth", lower: 3), link(3, "b", kind: "veth", lower: 2), link(4, "c", kind: "vlan", lower: 4),
    ]
    #expect(types(links) == [.ethernet, .ethernet, .ethernet])
  }

  @Test func sysfsIdentifiesWirelessDevices() throws {
    let root = try FakeSysfs()
    try root.add("wlan0", index: 3, uevent: "DEVTYPE=wlan\nINTERFACE=wlan0\nIFINDEX=3\n")
    try root.add("phy0", index: 4, uevent: "INTERFACE=phy0\n", directory: "phy80211")
    try root.add("old0", index: 5, uevent: "", directory: "wireless")
    try root.add("usb0", index: 6, uevent: "DEVTYPE=wwan\n")
    // Another namespace's device of the same name.
    try root.add("eth0", index: 77, uevent: "DEVTYPE=wlan\n")
    let links = [link(3, "wlan0"), link(4, "phy0"), link(5, "old0"), link(6, "usb0"), link(7, "eth0"), link(8, "none")]
    #expect(types(links, sysfsRoot: root.path) == [.wifi, .wifi, .wifi, .wwan, .ethernet, .ethernet])
    #expect(types([link(9, "vlan0", kind: "vlan", lower: 3), links[0]], sysfsRoot: root.path).first == .wifi)
  }

  @Test func sysfsIsReadOncePerDevice() throws {
    let root = try FakeSysfs()
    try root.add("wlan0", index: 3, uevent: "DEVTYPE=wlan\n")
    var classifier = InterfaceClassifier(sysfsRoot: root.path)
    #expect(classifier.classify([link(3, "wlan0")]).map(\.type) == [.wifi])
    try root.add("wlan0", index: 3, uevent: "")
    #expect(classifier.classify([link(3, "wlan0")]).map(\.type) == [.wifi])
    // A new name is a new device to it; so is one that went away and came back.
    #expect(classifier.classify([link(3, "wlan1")]).map(\.type) == [.ethernet])
    #expect(classifier.classify([]).isEmpty)
    #expect(classifier.classify([link(3, "wlan0")]).map(\.type) == [.ethernet])
  }
}

/// A directory that looks like `/sys/class/net`, removed with its last reference.
final class FakeSysfs {
  let path: String

  init() throws {
    var template = Array("/tmp/sysfs.XXXXXX".utf8CString)
    let made = unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
      guard let base = buffer.baseAddress, let path = unsafe mkdtemp(base) else { return nil }
      return unsafe String(cString: path)
    }
    guard let made else { throw KernelError("mkdtemp", errno: errno) }
    path = made
  }

  deinit {
    // All that a fake device has.
    for name in names {
      for file in ["/ifindex", "/uevent", "/phy80211", "/wireless", ""] { unsafe remove("\(path)/\(name)\(file)") }
    }
    unsafe remove(path)
  }

  private var names: Set<String> = []

  func add(_ name: String, index: Int, uevent: String, directory: String? = nil) throws {
    names.insert(name)
    unsafe mkdir("\(path)/\(name)", 0o700)
    if let directory { unsafe mkdir("\(path)/\(name)/\(directory)", 0o700) }
    try write("\(index)\n", to: "\(name)/ifindex")
    try write(uevent, to: "\(name)/uevent")
  }

  private func write(_ text: String, to file: String) throws {
    let opened = unsafe open("\(path)/\(file)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw KernelError("open", errno: errno) }
    defer { close(opened) }
    _ = unsafe Glibc.write(opened, text, text.utf8.count)
  }
}
