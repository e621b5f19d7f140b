import TestSupport
import Testing

/// What happens to interfaces is told as such, and does not move the verdict by itself.
@Suite(.needsNamespaces) struct InterfaceEventTests {
  private func watch() throws -> KernelFixture {
    try KernelFixture { pair in try pair.client.ip("route add default via 10.9.0.1 dev c0") }
  }

  @Test func addressesAreAddedAndRemoved() throws {
    let watch = try watch()
    try watch.client.ip("addr add 10.9.0.7/24 dev c0")
    let added = try watch.verifyStatus()
    #expect(added.map(\.line) == ["interface c0"] && added[0].causes == ["addressAdded"])
    #expect(added[0].interface?["addresses"]?.texts.contains("10.9.0.7/24") == true)
    #expect(added[0].event.data["removed"] == false)
    try watch.client.ip("addr del 10.9.0.7/24 dev c0")
    let removed = try watch.verifyStatus()
    #expect(removed.map(\.line) == ["interface c0"] && removed[0].causes == ["addressRemoved"])
    #expect(removed[0].interface?["addresses"]?.texts.contains("10.9.0.7/24") == false)
  }

  @Test func tentativeAddressIsIgnored() throws {
    let watch = try watch()
    try watch.client.sysctl("net.ipv6.conf.c0.accept_dad", 1)
    try watch.client.ip("addr add fd09::7/64 dev c0")
    let news = try watch.nextInterface { $0.interface?["addresses"]?.texts.contains("fd09::7/64") == true }
    #expect(news.causes == ["addressAdded"])
    // The router has this one: it stays unusable.
    try watch.client.ip("addr add fd09::1/64 dev c0")
    let client = watch.client
    #expect(try eventually { try client.ip("-6 addr show dev c0 dadfailed").contains("fd09::1") })
    try watch.verifyStatus()
    let own = watch.status.document["interfaces"]?.elements?.first { $0["name"] == "c0" }?["addresses"]?.texts
    #expect(own?.contains("fd09::7/64") == true && own?.contains("fd09::1/64") == false)
  }

  @Test func refreshedAddressIsNoEvent() throws {
    let watch = try watch()
    try watch.client.ip("addr replace 10.9.0.2/24 dev c0 valid_lft 1000 preferred_lft 1000")
    try watch.client.ip("addr replace 10.9.0.2/24 dev c0 valid_lft 2000 preferred_lft 1500")
    try watch.client.ip("addr replace fd09::2/64 dev c0 valid_lft 2000 preferred_lft 1500")
    #expect(try watch.verifyStatus().isEmpty)
  }

  @Test func linksAreAddedAndRemoved() throws {
    let watch = try watch()
    try watch.client.ip("link add d0 type veth peer name d1")
    let added = try watch.verifyStatus()
    #expect(Set(added.map(\.line)) == ["interface d0", "interface d1"])
    #expect(added.allSatisfy { $0.event.data["removed"] == false && $0.interface?["isUp"] == false })
    try watch.client.ip("link del d0")
    let removed = try watch.verifyStatus()
    #expect(removed.map(\.line).sorted() == ["interface d0", "interface d1"])
    #expect(removed.allSatisfy { $0.event.data["removed"] == true })
  }

  @Test func linkMovedBetweenNamespacesIsNew() throws {
    let watch = try watch()
    let elsewhere = try Namespace()
    try watch.client.ip("link add d0 type veth peer name d1")
    let before = try watch.verifyStatus().first { $0.line == "interface d0" }
    try watch.client.ip("link set d0 netns \(elsewhere.path)")
    let gone = try watch.nextInterface { $0.line == "interface d0" }
    #expect(gone.event.data["removed"] == true && gone.interface?["index"] == before?.interface?["index"])
    try watch.verifyStatus()
    try elsewhere.ip("link set d0 netns \(watch.client.path)")
    let back = try watch.nextInterface { $0.line == "interface d0" }
    #expect(back.event.data["removed"] == false)
    try watch.verifyStatus()
  }

  @Test func renamedLinkKeepsItsIndex() throws {
    let watch = try watch()
    try watch.client.ip("link add d0 type veth peer name d1")
    let before = try watch.verifyStatus().first { $0.line == "interface d0" }
    try watch.client.ip("link set d0 name wan0")
    let renamed = try watch.verifyStatus()
    // First the removal of the old name; each end of the cable names the other one.
    #expect(renamed.map(\.line) == ["interface d0", "interface d1", "interface wan0"])
    #expect(renamed.first?.event.data["removed"] == true && renamed.first?.event.data["renamedTo"] == "wan0")
    #expect(renamed.dropFirst().first?.interface?["lower"] == "wan0")
    #expect(renamed.last?.interface?["index"] == before?.interface?["index"])
  }

  @Test func mtuChangeIsNoPathChange() throws {
    let watch = try watch()
    try watch.client.ip("link set c0 mtu 1400")
    let news = try watch.verifyStatus()
    #expect(news.map(\.line) == ["interface c0"] && news.first?.interface?["mtu"] == 1400)
    #expect(news.first?.causes == [])
  }

  @Test func irrelevantChangeIsNoEvent() throws {
    let watch = try watch()
    try watch.client.ip(batch: [
      "link set c0 alias uplink", "link set c0 promisc on", "link set c0 allmulticast on", "link set c0 txqueuelen 500",
      "link property add dev c0 altname cable", "route add 198.51.100.0/24 via 10.9.0.1",
      "route add 2001:db8:1::/48 via fd09::1 dev c0", "neigh add 10.9.0.77 lladdr 02:00:00:00:00:01 dev c0",
      "rule add to 198.51.100.0/24 lookup 100", "route del 198.51.100.0/24",
    ])
    #expect(try watch.verifyStatus().isEmpty)
  }

  @Test func stackedInterfacesNameTheirLowerDevice() throws {
    let watch = try watch()
    try watch.client.ip("link add m0 link c0 type macvlan")
    let news = try watch.verifyStatus()
    let macvlan = try #require(news.last { $0.line == "interface m0" })
    #expect(macvlan.interface?["lower"] == "c0" && macvlan.interface?["type"] == "ethernet")
    let listed = try watch.daemon.get("/interfaces").json["interfaces"]?.elements?.first { $0["name"] == "m0" }
    #expect(listed == macvlan.interface)
  }
}
