import ReachabilityCompatibility
import Testing

/// Every combination of the nine flags.
private let allFlagSets: [SCNetworkReachabilityFlags] = (0..<512).map { number in
  SCNetworkReachabilityFlags(
    SCNetworkReachabilityFlags.named.enumerated().filter { number & 1 << $0.offset != 0 }.map(\.element.flag))
}

struct FlagRuleTests {
  /// One line of a table: the flags that must be set, those that must not be, and what follows.
  ///
  /// The first that fits counts.
  private struct Line<Outcome> {
    var with: SCNetworkReachabilityFlags
    var without: SCNetworkReachabilityFlags
    var outcome: Outcome

    func fits(_ flags: SCNetworkReachabilityFlags) -> Bool {
      flags.isSuperset(of: with) && flags.isDisjoint(with: without)
    }
  }

  @Test("E1-1 the modern rule, over all 512 sets of flags")
  func modern() {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus
    let wifi = Status.reachable(.ethernetOrWiFi)
    let cellular = Status.reachable(.cellular)
    let lines: [Line<Status>] = [
      Line(with: [], without: .reachable, outcome: .notReachable),
      Line(with: [], without: [.connectionRequired, .isWWAN], outcome: wifi),
      Line(with: .isWWAN, without: .connectionRequired, outcome: cellular),
      Line(with: .interventionRequired, without: [], outcome: .notReachable),
      Line(with: [], without: [.connectionOnTraffic, .connectionOnDemand], outcome: .notReachable),
      Line(with: [], without: .isWWAN, outcome: wifi),
      Line(with: .isWWAN, without: [], outcome: cellular),
    ]
    for flags in allFlagSets {
      #expect(Status(flags) == lines.first { $0.fits(flags) }?.outcome, "\(flags.readableDescription)")
    }
  }

  @Test("E1-1 the legacy rule, where WWAN wins whenever reachable is set, over all 512 sets of flags")
  func legacy() {
    let lines: [Line<Reachability.Connection>] = [
      Line(with: [], without: .reachable, outcome: .unavailable),
      Line(with: .isWWAN, without: [], outcome: .cellular),
      Line(with: [], without: .connectionRequired, outcome: .wifi),
      Line(with: .interventionRequired, without: [], outcome: .unavailable),
      Line(with: .connectionOnTraffic, without: [], outcome: .wifi),
      Line(with: .connectionOnDemand, without: [], outcome: .wifi),
      Line(with: [], without: [], outcome: .unavailable),
    ]
    for flags in allFlagSets {
      #expect(flags.connection == lines.first { $0.fits(flags) }?.outcome, "\(flags.readableDescription)")
    }
  }

  @Test("E1-1 the two rules differ only where a cellular connection must be made and does not make itself")
  func difference() {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus
    for flags in allFlagSets {
      let modern =
        switch Status(flags) {
        case .unknown, .notReachable: Reachability.Connection.unavailable
        case .reachable(.ethernetOrWiFi): Reachability.Connection.wifi
        case .reachable(.cellular): Reachability.Connection.cellular
        }
      let makesItself =
        !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) && !flags.contains(.interventionRequired)
      let differs = flags.isSuperset(of: [.reachable, .connectionRequired, .isWWAN]) && !makesItself
      #expect((modern != flags.connection) == differs, "\(flags.readableDescription)")
    }
  }

  @Test("E1-1 tonymillion's rule, over all 512 sets of flags", arguments: [true, false])
  func tonymillion(reachableOnWWAN: Bool) {
    for flags in allFlagSets {
      let mustDial = flags.contains(.connectionRequired) && flags.contains(.transientConnection)
      let isWanted = reachableOnWWAN || !flags.contains(.isWWAN)
      #expect(
        flags.isReachable(reachableOnWWAN: reachableOnWWAN) == (flags.contains(.reachable) && !mustDial && isWanted))
    }
  }

  @Test("E1-1 the local Wi-Fi rule, over all 512 sets of flags")
  func localWiFi() {
    for flags in allFlagSets {
      let isThere = flags.contains(.reachable) && flags.contains(.isDirect)
      #expect(flags.localWiFiConnection == (isThere ? .wifi : .unavailable))
    }
  }

  @Test("E1-2 flags have Apple's bits")
  func bits() {
    typealias Flags = SCNetworkReachabilityFlags
    let bits: [(Flags, Int)] = [
      (.transientConnection, 0), (.reachable, 1), (.connectionRequired, 2), (.connectionOnTraffic, 3),
      (.interventionRequired, 4), (.connectionOnDemand, 5), (.isLocalAddress, 16), (.isDirect, 17), (.isWWAN, 18),
    ]
    for (flag, bit) in bits { #expect(flag.rawValue == 1 << UInt32(bit)) }
    #expect(Flags.connectionAutomatic == Flags.connectionOnTraffic)
  }

  @Test("E1-3 no set of flags means unknown")
  func neverUnknown() {
    for flags in allFlagSets { #expect(NetworkReachabilityManager.NetworkReachabilityStatus(flags) != .unknown) }
  }
}

struct FlagStatusTests {
  typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

  @Test("A-12 without the reachable flag the status is not reachable")
  func absent() { #expect(Status([.connectionOnDemand]) == .notReachable) }

  @Test("A-13 a required connection is not reachable")
  func connectionRequired() { #expect(Status([.reachable, .connectionRequired]) == .notReachable) }

  @Test("A-14 a required intervention is not reachable")
  func interventionRequired() {
    #expect(Status([.reachable, .connectionRequired, .interventionRequired]) == .notReachable)
  }

  @Test("A-15 without a required connection the status is reachable over Ethernet or Wi-Fi")
  func reachable() { #expect(Status([.reachable]) == .reachable(.ethernetOrWiFi)) }

  @Test("A-16 a connection on demand is reachable")
  func onDemand() {
    #expect(Status([.reachable, .connectionRequired, .connectionOnDemand]) == .reachable(.ethernetOrWiFi))
  }

  @Test("A-17 a connection on traffic is reachable")
  func onTraffic() {
    #expect(Status([.reachable, .connectionRequired, .connectionOnTraffic]) == .reachable(.ethernetOrWiFi))
  }

  @Test("A-18 WWAN is reachable over cellular")
  func wwan() { #expect(Status([.reachable, .isWWAN]) == .reachable(.cellular)) }

  @Test("A-19 WWAN that must be connected first is not reachable")
  func wwanRequired() { #expect(Status([.reachable, .isWWAN, .connectionRequired]) == .notReachable) }
}

struct FlagTextTests {
  private let all = SCNetworkReachabilityFlags(SCNetworkReachabilityFlags.named.map(\.flag))

  @Test("E5-4 the three compact spellings")
  func compact() {
    #expect(all.compactDescription(.alamofire) == "WR ctiCDlda")
    #expect(all.compactDescription(.reachabilitySwift) == "WR ctiCDld")
    #expect(all.compactDescription(.appleSample) == "WR tcCiDld")
    let none: SCNetworkReachabilityFlags = []
    #expect(none.readableDescription == "-- --------")
    #expect(none.compactDescription(.reachabilitySwift) == "-- -------")
    let some: SCNetworkReachabilityFlags = [.reachable, .transientConnection, .connectionRequired, .isDirect]
    #expect(some.compactDescription(.alamofire) == "-R ct----d-")
    #expect(some.compactDescription(.reachabilitySwift) == "-R ct----d")
    #expect(some.compactDescription(.appleSample) == "-R tc----d")
    let dial: SCNetworkReachabilityFlags = [.isWWAN, .connectionAutomatic, .interventionRequired]
    #expect(dial.compactDescription(.alamofire) == "W- --iC---a")
    #expect(dial.compactDescription(.appleSample) == "W- --Ci---")
  }

  @Test("E5-5 scutil's words, in its order, with what has no name in hexadecimal")
  func scutil() {
    #expect(SCNetworkReachabilityFlags().scutilDescription == "Not Reachable")
    #expect(
      all.scutilDescription
        == "Reachable,Transient Connection,Connection Required,Automatic Connection On Traffic,"
        + "Automatic Connection On Demand,Intervention Required,Local Address,Directly Reachable Address,WWAN")
    let known: SCNetworkReachabilityFlags = [.reachable, .isLocalAddress, .isDirect]
    #expect(known.scutilDescription == "Reachable,Local Address,Directly Reachable Address")
    #expect(SCNetworkReachabilityFlags(rawValue: 1 << 30 | 1 << 1).scutilDescription == "Reachable,0x40000000")
    #expect(SCNetworkReachabilityFlags(rawValue: 1 << 6).scutilDescription == "0x00000040")
  }
}
