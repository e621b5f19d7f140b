// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry, NeverUseImplicitlyUnwrappedOptionals
// Code as users of the original libraries write it, with another import and no further one. It must compile, and it runs.
import ReachabilityCompatibility
import Testing

/// Alamofire 5.
final class Alamofire5User {
  let manager = NetworkReachabilityManager(host: "www.example.com")
  var isOnline = false

  func begin() {
    manager?.startListening { status in
      print("Network Status Changed: \(status)")
    }
  }

  func switchOverAll() {
    NetworkReachabilityManager.default?.startListening(
      onQueue: .main,
      onUpdatePerforming: { status in
        switch status {
        case .notReachable:
          print("not reachable")
        case .unknown:
          print("unknown")
        case .reachable(.ethernetOrWiFi):
          print("ethernet or Wi-Fi")
        case .reachable(.cellular):
          print("cellular")
        }
      })
    let listener: NetworkReachabilityManager.Listener = { status in
      if case .reachable(let type) = status { print(type) }
    }
    let manager = NetworkReachabilityManager()
    let started = manager?.startListening(onQueue: .global(), onUpdatePerforming: listener) ?? false
    isOnline = started && NetworkReachabilityManager.default?.isReachable == true
  }

  func end() {
    manager?.stopListening()
    NetworkReachabilityManager.default?.stopListening()
  }
}

/// Alamofire 4.
final class Alamofire4User {
  let manager = NetworkReachabilityManager(host: "www.example.com")
  private(set) var text = ""

  func begin() {
    manager?.listenerQueue = DispatchQueue(label: "listener")
    manager?.listener = { status in
      print("Network Status Changed: \(status)")
    }
    manager?.startListening()
  }

  func look() {
    guard let status = manager?.networkReachabilityStatus else { return }
    if status == .reachable(.wwan) || manager!.isReachableOnWWAN { text = "metered" }
    switch status {
    case .reachable(.wwan), .reachable(.ethernetOrWiFi): text = "online"
    case .notReachable, .unknown: text = "offline"
    // Alamofire 4's own type had no more cases; `wwan` is an alias here.
    default: break
    }
    let type: NetworkReachabilityManager.ConnectionType = .wwan
    print(type, manager?.flags?.contains(.reachable) ?? false, SCNetworkReachabilityFlags.isWWAN.rawValue)
  }

  func end() { manager?.stopListening() }
}

/// AFNetworking from Swift.
final class AFNetworkingUser {
  private var token: (any NSObjectProtocol)?
  var text = ""

  func begin() {
    AFNetworkReachabilityManager.shared().setReachabilityStatusChange { (status: AFNetworkReachabilityStatus) -> Void in
      switch status {
      case .notReachable:
        print("not reachable")
      case .reachableViaWiFi, .reachableViaWWAN:
        print("reachable")
      case .unknown:
        print("unknown")
      }
      self.text = AFStringFromNetworkReachabilityStatus(status)
    }
    AFNetworkReachabilityManager.shared().startMonitoring()
    token = NotificationCenter.default.addObserver(
      forName: NSNotification.Name.AFNetworkingReachabilityDidChange, object: nil, queue: nil
    ) { notification in
      let item = notification.userInfo![AFNetworkingReachabilityNotificationStatusItem] as! Int
      print(AFNetworkReachabilityStatus(rawValue: item)!)
    }
  }

  func look() {
    let manager = AFNetworkReachabilityManager(forDomain: "www.example.com")
    if manager.isReachable || manager.isReachableViaWiFi || manager.isReachableViaWWAN { text = "online" }
    print(manager.localizedNetworkReachabilityStatusString(), manager.networkReachabilityStatus.rawValue)
  }

  func end() {
    AFNetworkReachabilityManager.shared().stopMonitoring()
    AFNetworkReachabilityManager.shared().setReachabilityStatusChange(nil)
    if let token { NotificationCenter.default.removeObserver(token) }
  }
}

/// Reachability.swift.
final class ReachabilitySwiftUser {
  let reachability = try! Reachability()
  private var token: (any NSObjectProtocol)?
  var text = ""

  func begin() {
    reachability.whenReachable = { reachability in
      if reachability.connection == .wifi {
        print("Reachable via WiFi")
      } else {
        print("Reachable via Cellular")
      }
      self.text = "online"
    }
    reachability.whenUnreachable = { _ in
      print("Not reachable")
    }
    // Linux has no selectors; this is the form of addObserver with a closure.
    token = NotificationCenter.default.addObserver(forName: .reachabilityChanged, object: reachability, queue: nil) {
      note in
      let reachability = note.object as! Reachability
      switch reachability.connection {
      case .wifi:
        print("Reachable via WiFi")
      case .cellular:
        print("Reachable via Cellular")
      case .unavailable:
        print("Network not reachable")
      }
    }
    do {
      try reachability.startNotifier()
    } catch {
      print("could not start reachability notifier")
    }
  }

  func end() {
    reachability.stopNotifier()
    NotificationCenter.default.removeObserver(token!, name: .reachabilityChanged, object: reachability)
  }
}

/// Apple's sample and tonymillion/Reachability from Swift.
final class AppleSampleUser {
  var reach: Reachability?
  private var token: (any NSObjectProtocol)?
  var text = ""

  func begin() {
    self.reach = Reachability.forInternetConnection()
    self.reach!.reachableOnWWAN = false
    self.reach!.reachableBlock = {
      (reach: Reachability?) -> Void in
      print("reachable")
    }
    self.reach!.unreachableBlock = {
      (reach: Reachability?) -> Void in
      print("unreachable")
    }
    token = NotificationCenter.default.addObserver(
      forName: NSNotification.Name(rawValue: kReachabilityChangedNotification), object: nil, queue: nil
    ) { _ in }
    // Where the sample returned a Bool, Reachability.swift throws.
    try? self.reach!.startNotifier()
  }

  func look() {
    let networkReachability: Reachability = Reachability.reachabilityForInternetConnection()
    let networkStatus: Int = networkReachability.currentReachabilityStatus().rawValue
    if networkStatus == NotReachable.rawValue { text = "offline" }
    switch networkReachability.currentReachabilityStatus() {
    case .notReachable: text = "offline"
    case .reachableViaWiFi, .reachableViaWWAN: text = networkReachability.connectionRequired() ? "dial" : "online"
    }
    if Reachability(hostName: "www.example.com")?.currentReachabilityStatus() != NotReachable { text += "!" }
  }

  func end() {
    reach?.stopNotifier()
    if let token { NotificationCenter.default.removeObserver(token) }
  }
}

/// A view model of Swift 6, whose closures belong to the main actor.
@MainActor final class MainActorUser {
  let reachability = try! Reachability(hostname: "localhost")
  let manager = AFNetworkReachabilityManager(forDomain: "localhost")
  private(set) var heard: Set<String> = []

  func begin() {
    reachability.whenReachable = { _ in self.heard.insert("Reachability") }
    manager.setReachabilityStatusChange { [weak self] _ in self?.heard.insert("AFNetworking") }
    try? reachability.startNotifier()
    manager.startMonitoring()
  }

  func end() {
    reachability.stopNotifier()
    reachability.whenReachable = nil
    manager.stopMonitoring()
  }
}

/// What `open` is for: subclasses with stored properties and initializers of their own.
final class LabelledManager: NetworkReachabilityManager, @unchecked Sendable {
  let label: String

  init?(label: String) {
    self.label = label
    super.init(host: "192.0.2.1")
  }

  override var status: NetworkReachabilityStatus { .notReachable }
}

final class LabelledAFManager: AFNetworkReachabilityManager, @unchecked Sendable {
  let label: String

  init(label: String) {
    self.label = label
    super.init(forDomain: "192.0.2.1")
  }

  override var networkReachabilityStatus: AFNetworkReachabilityStatus { .reachableViaWWAN }
}

@MainActor struct FidelityTests {
  @Test("E2-5 closures of the main actor run there")
  func mainActor() async {
    let user = MainActorUser()
    user.begin()
    await becomes { user.heard.count == 2 }
    user.end()
    #expect(user.heard == ["Reachability", "AFNetworking"])
  }

  @Test("L6 code for Alamofire 5 compiles and runs")
  func alamofire5() {
    let user = Alamofire5User()
    user.begin()
    user.switchOverAll()
    user.end()
  }

  @Test("L6 code for Alamofire 4 compiles and runs")
  func alamofire4() {
    let user = Alamofire4User()
    user.begin()
    user.look()
    user.end()
    #expect(!user.text.isEmpty)
  }

  @Test("F5, F7 code for AFNetworking compiles and runs")
  func networking() {
    let user = AFNetworkingUser()
    user.begin()
    user.look()
    user.end()
  }

  @Test("R5, R6 code for Reachability.swift compiles and runs")
  func reachabilitySwift() {
    let user = ReachabilitySwiftUser()
    user.begin()
    user.end()
    // Its closure holds the user, who holds it: so it was written.
    user.reachability.whenReachable = nil
  }

  @Test("P2, P7 code for Apple's sample and tonymillion/Reachability compiles and runs")
  func appleSample() {
    let user = AppleSampleUser()
    user.begin()
    user.look()
    user.end()
    #expect(!user.text.isEmpty)
  }
  @Test("Managers can be subclassed outside their library")
  func subclasses() {
    #expect(LabelledManager(label: "a")?.isReachable == false)
    #expect(LabelledAFManager(label: "b").isReachableViaWWAN)
  }
}
