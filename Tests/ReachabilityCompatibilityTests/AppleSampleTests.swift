import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// What Apple's sample and tonymillion/Reachability had beyond Reachability.swift, on a scripted network.
struct AppleSampleTests {
  @Test("E5-2 the status has the sample's numbers")
  func numbers() {
    #expect([NotReachable, ReachableViaWiFi, ReachableViaWWAN].map(\.rawValue) == [0, 1, 2])
    #expect(kReachabilityChangedNotification == "kNetworkReachabilityChangedNotification")
  }

  @Test("The status is evaluated at each read")
  func status() {
    let network = Scripted()
    let reachability = Reachability(.default, on: network.shared)
    #expect(reachability.currentReachabilityStatus() == .reachableViaWiFi)
    network.roam()
    #expect(reachability.currentReachabilityStatus() == .reachableViaWWAN)
    #expect(reachability.currentReachabilityFlags() == "WR -t-----" && !reachability.connectionRequired())
    network.unplug()
    #expect(reachability.currentReachabilityStatus() == .notReachable)
  }

  @Test("A dormant modem needs a connection first, which the legacy rule counts as cellular")
  func connectionRequired() {
    let network = Scripted()
    network.roam()
    network.kernel.change { $0.change("wwan0") { $0.operationalState = .dormant } }
    let reachability = Reachability(.default, on: network.shared)
    #expect(reachability.connectionRequired() && reachability.isConnectionRequired())
    #expect(!reachability.isConnectionOnDemand() && !reachability.isInterventionRequired())
    #expect(reachability.connection == .cellular)
    #expect(network.manager().status == .notReachable)
  }

  @Test("The local network is there without a way out, and gone with its interface")
  func localWiFi() {
    let network = Scripted(online: false)
    let reachability = Reachability(.localLink, on: network.shared)
    #expect(reachability.connection == .wifi && reachability.currentReachabilityStatus() == .reachableViaWiFi)
    network.kernel.change { $0.change("eth0") { $0.operationalState = .down } }
    #expect(reachability.connection == .unavailable)
  }

  @Test("The makers have the names of Swift 2 and of Swift 3")
  func makers() {
    #expect(Reachability.forInternetConnection() != nil && Reachability.forLocalWiFi() != nil)
    #expect(Reachability.reachabilityWithHostName("localhost") != nil)
    #expect(Reachability(hostName: "") == nil && Reachability(hostName: "http://www.example.com") != nil)
    var linkLocal = sockaddr_in()
    linkLocal.sin_addr.s_addr = UInt32(0xa9fe_0000).bigEndian
    var loopback = sockaddr_in()
    loopback.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    for reachability in [
      Reachability.reachabilityForInternetConnection(), .reachabilityForLocalWiFi(), Reachability(address: linkLocal),
      Reachability(address: sockaddr_in()),
    ] {
      // On the real kernel, whose state no test knows: it answers.
      #expect(reachability.description != "unavailable flags")
    }
    #expect(Reachability(address: loopback).reachabilityFlags().contains(.isLocalAddress))
  }

  @Test("tonymillion's blocks follow its own rule")
  func blocks() throws {
    let network = Scripted()
    let reachability = Reachability(.default, on: network.shared, context: .immediate)
    let log = Log<String>()
    reachability.reachableBlock = { log.add("reachable \($0?.connection.description ?? "")") }
    reachability.unreachableBlock = { log.add("unreachable \($0?.connection.description ?? "")") }
    try reachability.startNotifier()
    network.roam()
    // A transient connection that must be made first counts for the legacy rule, but not for this one.
    network.kernel.change { $0.change("wwan0") { $0.operationalState = .dormant } }
    #expect(log.values == ["reachable WiFi", "reachable Cellular", "unreachable Cellular"])
  }
}
