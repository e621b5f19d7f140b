import Glibc
import TestSupport
import Testing

@Suite("A full disk", .needsNamespaces)
struct FullDiskTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  @Test("Events go on while a file system of 2 MB is full, and all are kept once there is space")
  func full() throws {
    // Its own mount namespace goes with the program; the rest is for the database.
    let mount = "mount -t tmpfs -o size=2m,mode=700 tmpfs \(fixture.data.path)"
    let fill = "head -c 1600000 /dev/zero > \(fixture.data.path)/filler"
    let daemon = try fixture.start(
      launcher: ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\(mount) && \(fill) && exec \"$@\"", "sh"])
    let reader = try daemon.events()
    let snapshot = try #require(try reader.next())
    var last = 0
    for mtu in 1301...1500 {
      try fixture.changeMTU([mtu])
      let event = try #require(try reader.next())
      last = try #require(event.number)
    }
    #expect(try daemon.state().contains("detached"))
    #expect(unsafe unlink("/proc/\(daemon.child.id)/root\(fixture.data.path)/filler") == 0)
    #expect(try eventually(within: .seconds(30)) { try daemon.state().contains("keeping") }, "\(daemon.child.errors)")
    let again = try daemon.events(after: snapshot.id)
    var numbers: [Int] = []
    while numbers.last != last { numbers.append(try #require(try again.next()?.number)) }
    #expect(numbers == Array(numbers[0]...last))
    #expect(numbers.first == snapshot.number.map { $0 + 1 })
    #expect(try daemon.get("/metrics").text.contains("reachd_store_unkept_events_total 0\n"))
    try daemon.terminate()
  }
}
