import ReachabilityCompatibility
import Testing

/// The articles' code as it stands there (TidyTests hold the articles to it).
@Suite("What the articles show")
struct DocumentationTests {
  @Test("Migrating from Reachability.swift and AFNetworking: the code compiles, and stops what it starts")
  func migrating() throws {
    let reachability = try Reachability()
    reachability.whenReachable = { reachability in
      print(reachability.connection == .wifi ? "Reachable via WiFi" : "Reachable via Cellular")
    }
    reachability.whenUnreachable = { _ in
      print("Not reachable")
    }
    try reachability.startNotifier()
    reachability.stopNotifier()
    AFNetworkReachabilityManager.shared().setReachabilityStatusChange { status in
      print(AFStringFromNetworkReachabilityStatus(status))
    }
    AFNetworkReachabilityManager.shared().startMonitoring()
    AFNetworkReachabilityManager.shared().stopMonitoring()
    AFNetworkReachabilityManager.shared().setReachabilityStatusChange(nil)
  }
}
