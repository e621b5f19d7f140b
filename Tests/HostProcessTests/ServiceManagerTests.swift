import Foundation
import Glibc
import HostProcess
import TestSupport
import Testing

@Suite struct ServiceManagerTests {
  @Test(arguments: ["/tmp/reachd-notify-\(getpid())", "@reachd-notify-\(getpid())"])
  func tellsOverPathsAndAbstractNames(address: String) throws {
    let listener = try NotifySocket(address)
    let manager = ServiceManager(environment: ["NOTIFY_SOCKET": address])
    #expect(manager.notify("READY=1\nSTATUS=Serving."))
    #expect(listener.next() == "READY=1\nSTATUS=Serving.")
  }

  @Test func missingManagerIsHarmless() {
    #expect(!ServiceManager(environment: [:]).notify("READY=1"))
    for address in ["", "relative", "vsock:2:1", "/nonexistent/notify", "@" + String(repeating: "x", count: 200)] {
      #expect(!ServiceManager(environment: ["NOTIFY_SOCKET": address]).notify("READY=1"))
    }
  }

  @Test func theWatchdogIsOursOnly() {
    func interval(_ environment: [String: String]) -> Duration? { ServiceManager(environment: environment).watchdog }
    #expect(interval(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
    #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(3))
    #expect(interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
    #expect(interval([:]) == nil)
    for nonsense in ["0", "-5", "soon", ""] { #expect(interval(["WATCHDOG_USEC": nonsense]) == nil) }
  }

  @Test func socketsForOthersAreNotTaken() {
    func sockets(_ count: String, _ process: String?) -> [Int32] {
      var environment = ["LISTEN_FDS": count]
      environment["LISTEN_PID"] = process
      return ServiceManager(environment: environment).sockets
    }
    #expect(sockets("1", "1").isEmpty)
    #expect(sockets("1", nil).isEmpty)
    for nonsense in ["0", "-1", "many", "99999999999", "100000"] { #expect(sockets(nonsense, "\(getpid())").isEmpty) }
  }
}
