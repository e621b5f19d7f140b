import TestSupport
import Testing

@Suite("Kills with a data directory", .needsNamespaces)
struct KillTests {
  /// More in `make test-store`.
  private static let kills = Program.environmentVariable("REACHD_STORE_KILLS").flatMap { Int($0) } ?? 6
  /// Interfaces whose addresses change: changes of one of them that are read together are one event.
  private static let interfaces = 5

  private let fixture: StoreFixture
  private let prompt = ResumingListener()
  /// Comes back after many restarts, when memory does not have its events any more.
  private let late = ResumingListener()

  init() throws {
    fixture = try StoreFixture()
    let links = (0..<Self.interfaces).flatMap { number in
      ["link add e\(number) type veth peer name f\(number)", "link set e\(number) up"]
    }
    try fixture.namespace.ip(batch: links)
  }

  @Test("SIGKILL during changes loses no event, repeats none and causes no gap")
  func kill() throws {
    for round in 1...Self.kills {
      let daemon = try fixture.start()
      try prompt.connect(to: daemon)
      let isBack = round == 1 || round == Self.kills / 2
      if isBack { try connectLate(to: daemon) }
      let writer = try change()
      for _ in 0..<5 + round % 20 * 3 { try prompt.read() }
      daemon.child.kill()
      try prompt.drain()
      if isBack { try late.drain() }
      // The rest of the changes happens while no program runs.
      try writer.wait()
    }
    let daemon = try fixture.start()
    try prompt.connect(to: daemon)
    try fixture.changeMTU([2000])
    while try prompt.read().data["interface"]?["mtu"]?.integer != 2000 {}
    try connectLate(to: daemon)
    try daemon.terminate()
    let ids = try fixture.compareWithStore([prompt, late])
    #expect(ids.count > Self.kills * 5)
  }

  /// Connects the late listener, and reads until it knows what the other one does.
  private func connectLate(to daemon: StoreDaemon) throws {
    try late.connect(to: daemon)
    while try #require(late.lastNumber) < #require(prompt.lastNumber) { try late.read() }
  }

  /// Adds and deletes addresses, 500 a second.
  private func change() throws -> Child {
    let script = """
      i=0; while [ $i -lt 20 ]; do
        for action in add del; do
          for n in \((0..<Self.interfaces).map(String.init).joined(separator: " ")); do
            echo "addr $action 10.9.$n.$i/32 dev e$n"
          done
          sleep 0.01
        done
        i=$((i + 1))
      done | ip -batch -
      """
    return try fixture.namespace.spawn("/bin/sh", ["-c", script])
  }
}
