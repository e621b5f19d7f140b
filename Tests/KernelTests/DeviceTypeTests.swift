import TestSupport
import Testing

/// Devices of other kinds than Ethernet, faked by TUN devices with the kinds' hardware types.
@Suite(.needsNamespaces, .enabled(if: TunDevice.isSupported, "needs /dev/net/tun")) struct DeviceTypeTests {
  private func device(_ name: String, _ hardwareType: UInt16?, in namespace: Namespace) throws -> TunDevice {
    let device = try TunDevice(name, hardwareType: hardwareType, in: namespace)
    try namespace.ip(batch: ["link set \(name) up", "addr add 10.7.0.1 peer 10.7.0.2 dev \(name)"])
    return device
  }

  @Test(arguments: [(512, "ppp"), (65534, "tunnel")] as [(UInt16, String)])
  func connectionTypesFollowTheDevices(hardwareType: UInt16, type: String) throws {
    let watch = try KernelFixture()
    let device = try device("link0", hardwareType == 65534 ? nil : hardwareType, in: watch.client)
    try watch.waitForAddress(device.name)
    try watch.client.ip("route add default dev link0")
    let news = try watch.only()
    #expect(
      news.line
        == "status reachable ethernetOrWiFi | reachable link0 \(type) from 10.7.0.1 | notReachable noRoute")
    #expect(news.flags == ["transientConnection", "reachable"])
    try device.setCarrier(false)
    #expect(
      try watch.only().line
        == "status notReachable linkDown | notReachable linkDown link0 \(type) | notReachable noRoute")
    try device.setCarrier(true)
    #expect(try watch.only().line == news.line)
  }

  @Test func modemIsCellular() throws {
    let watch = try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0 metric 100") }
    let modem = try device("modem0", 519, in: watch.client)
    try watch.waitForAddress(modem.name)
    try watch.client.ip("route add default dev modem0 metric 50")
    let news = try watch.only()
    #expect(
      news.line == "status reachable wwan | reachable modem0 wwan from 10.7.0.1 | notReachable noRoute")
    #expect(news.flags == ["transientConnection", "reachable", "isWWAN"])
    #expect(news.event.data["from"]?["connectionType"] == "ethernetOrWiFi")
    try modem.setCarrier(false)
    let lost = try watch.only()
    #expect(
      lost.line == "status notReachable linkDown | notReachable linkDown modem0 wwan | notReachable noRoute")
    #expect(lost.flags == ["isWWAN"])
    try watch.client.ip("route del default dev modem0")
    #expect(try watch.only().line.hasPrefix("status reachable ethernetOrWiFi | reachable c0 ethernet"))
  }

  @Test func tunnelOverAModemIsCellularAndExpensive() throws {
    let watch = try KernelFixture()
    let modem = try device("modem0", 519, in: watch.client)
    try watch.waitForAddress(modem.name)
    let tunnel = try TunDevice("vpn0", in: watch.client)
    try watch.client.ip(batch: ["link set vpn0 up", "addr add 10.6.0.1 peer 10.6.0.2 dev vpn0"])
    try watch.waitForAddress(tunnel.name, "10.6.0.1/32")
    try watch.client.ip("route add default dev modem0 metric 100")
    #expect(try watch.only().line.hasPrefix("status reachable wwan | reachable modem0 wwan"))
    // As VPN clients do it: two halves, which win over the default route and leave it in place.
    try watch.client.ip(batch: ["route add 0.0.0.0/1 dev vpn0", "route add 128.0.0.0/1 dev vpn0"])
    #expect(
      eventually {
        guard let status = try? watch.daemon.get("/status").json else { return false }
        return status["ipv4"]?["interface"] == "vpn0" && status["connectionType"] == "wwan"
          && status["isExpensive"] == true && status["ipv4"]?["interfaceType"] == "tunnel"
      })
    // A better default over the wire is where the tunnel's packets go from then on.
    try watch.client.ip("route add default via 10.9.0.1 dev c0 metric 50")
    #expect(
      eventually {
        guard let status = try? watch.daemon.get("/status").json else { return false }
        return status["ipv4"]?["interface"] == "vpn0" && status["connectionType"] == "ethernetOrWiFi"
          && status["isExpensive"] == false
      })
  }

  @Test func dialOnDemandLinkIsReachable() throws {
    let watch = try KernelFixture()
    let device = try device("dial0", 512, in: watch.client)
    try watch.waitForAddress(device.name)
    try watch.client.ip("link set dial0 state dormant")
    try watch.verifyStatus()
    try watch.client.ip("route add default dev dial0")
    let news = try watch.only()
    #expect(news.line.hasPrefix("status reachable ethernetOrWiFi | reachable dial0 ppp"))
    #expect(news.flags == ["transientConnection", "reachable", "connectionRequired", "connectionOnTraffic"])
  }

  @Test func tunDeviceDisappearsWithItsProcess() throws {
    let watch = try KernelFixture()
    var device: TunDevice? = try device("vpn0", nil, in: watch.client)
    try watch.waitForAddress("vpn0")
    try watch.client.ip("route add default dev vpn0")
    #expect(try watch.only().line.hasPrefix("status reachable"))
    #expect(device != nil)
    device = nil
    #expect(try watch.next().line == DefaultRouteTests.gone)
    try watch.nextInterface { $0.interface?["name"] == "vpn0" && $0.event.data["removed"] == true }
    try watch.verifyStatus()
  }
}

extension KernelFixture {
  /// Waits until an interface has the address of these tests.
  fileprivate func waitForAddress(_ name: String, _ address: String = "10.7.0.1/32") throws {
    try nextInterface {
      $0.interface?["name"]?.text == name && $0.interface?["addresses"]?.texts.contains(address) == true
    }
    try verifyStatus()
  }
}
