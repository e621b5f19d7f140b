import Dispatch
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// What AFNetworking's own tests demand, and its page promises, on a scripted network.
struct AFNetworkingTests {
  private static let targets = [ReachabilityTarget.default, .localhost]
  private let log = Log<AFNetworkReachabilityStatus>()

  private func manager(
    _ network: Scripted, _ target: ReachabilityTarget = .default, _ context: DeliveryContext = .immediate
  ) -> AFNetworkReachabilityManager {
    AFNetworkReachabilityManager(target, on: network.shared, context: context)
  }

  @Test("B-01, B-02 a manager is made for a target: there is no other initialiser")
  func makers() {
    // `AFNetworkReachabilityManager()` does not compile, which is what the original throws at run time.
    #expect(AFNetworkReachabilityManager.shared() === AFNetworkReachabilityManager.shared())
    #expect(AFNetworkReachabilityManager.sharedManager() === AFNetworkReachabilityManager.shared())
    #expect(AFNetworkReachabilityManager.manager() !== AFNetworkReachabilityManager.shared())
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    for manager in [
      AFNetworkReachabilityManager(forDomain: "localhost"), AFNetworkReachabilityManager(forAddress: address),
      .managerForDomain("localhost"), .managerForAddress(address),
    ] {
      #expect(manager.networkReachabilityStatus == .unknown)
    }
  }

  @Test("B-03, B-04 a manager starts in the unknown state", arguments: targets)
  func startsUnknown(_ target: ReachabilityTarget) {
    let manager = manager(Scripted(), target)
    #expect(manager.networkReachabilityStatus == .unknown)
    #expect(!manager.isReachable && !manager.isReachableViaWiFi && !manager.isReachableViaWWAN)
  }

  @Test("B-05, B-06 a start posts a notification with the status", arguments: targets)
  func notification(_ target: ReachabilityTarget) async {
    let manager = manager(Scripted(), target, .main)
    let items = Log<Int>()
    let observer = Observer(.AFNetworkingReachabilityDidChange) { notification in
      guard notification.object as? AFNetworkReachabilityManager === manager else { return }
      if let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? Int { items.add(item) }
    }
    manager.startMonitoring()
    await becomes { !items.values.isEmpty }
    #expect(items.values.last == 2)
    manager.stopMonitoring()
    withExtendedLifetime(observer) {}
  }

  @Test("B-07, B-08 a start calls the block", arguments: targets)
  func block(_ target: ReachabilityTarget) async {
    let manager = manager(Scripted(), target, .main)
    manager.setReachabilityStatusChange { [log] status in log.add(status) }
    manager.startMonitoring()
    await becomes { !log.values.isEmpty }
    #expect(log.values.last == .reachableViaWiFi)
    manager.stopMonitoring()
  }

  @Test("B-09 the notification's object is the manager, so that an observer can choose")
  func object() {
    let network = Scripted()
    let (manager, other) = (manager(network), manager(network))
    let count = Log<Bool>()
    let observer = Observer(.AFNetworkingReachabilityDidChange, of: manager) { notification in
      count.add(notification.object as? AFNetworkReachabilityManager === manager)
    }
    other.startMonitoring()
    #expect(count.values.isEmpty)
    manager.startMonitoring()
    #expect(count.values == [true])
    withExtendedLifetime(observer) {}
  }

  @Test("E5-1 the status has AFNetworking's numbers, words and names")
  func names() {
    let statuses: [AFNetworkReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
    #expect(statuses.map(\.rawValue) == [-1, 0, 1, 2])
    let english = AFNetworkReachabilityLanguage(environment: ["LANG": "en_US.UTF-8"])
    #expect(
      statuses.map(english.description) == ["Unknown", "Not Reachable", "Reachable via WWAN", "Reachable via WiFi"])
    let name = Notification.Name.AFNetworkingReachabilityDidChange
    #expect(name.rawValue == "com.alamofire.networking.reachability.change")
    #expect(AFNetworkingReachabilityNotificationStatusItem == "AFNetworkingReachabilityNotificationStatusItem")
    let manager = manager(Scripted())
    #expect(manager.localizedNetworkReachabilityStatusString() == AFStringFromNetworkReachabilityStatus(.unknown))
  }

  @Test(
    "E5-1 the words are Chinese where the environment asks for simplified characters",
    arguments: [
      (["LANG": "zh_CN.UTF-8"], "无法访问"), (["LANG": "zh_SG"], "无法访问"), (["LANG": "zh_Hans_HK.UTF-8"], "无法访问"),
      (["LANG": "zh_TW.UTF-8"], "Not Reachable"), (["LANG": "zh-Hant"], "Not Reachable"),
      (["LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"], "无法访问"),
      (["LC_ALL": "", "LC_MESSAGES": "zh_CN", "LANG": "en_US.UTF-8"], "无法访问"),
      (["LANGUAGE": "zh_CN:en", "LANG": "en_US.UTF-8"], "无法访问"),
      (["LANGUAGE": "de:zh_CN", "LANG": "en_US.UTF-8"], "无法访问"),
      (["LANGUAGE": "zh_CN", "LANG": "C.UTF-8"], "Not Reachable"), (["LANGUAGE": "zh_CN"], "Not Reachable"),
      (["LANG": "de_DE.UTF-8"], "Not Reachable"), ([:], "Not Reachable"),
    ])
  func languages(_ environment: [String: String], _ words: String) {
    #expect(AFNetworkReachabilityLanguage(environment: environment).description(of: .notReachable) == words)
  }

  @Test("E5-1 every status has Chinese words of its own")
  func chinese() {
    let chinese = AFNetworkReachabilityLanguage(environment: ["LANG": "zh_CN"])
    let words = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi].map(chinese.description)
    #expect(Set(words).count == 4 && words.allSatisfy { !$0.utf8.allSatisfy { $0 < 0x80 } })
  }

  @Test("The status is set, then the block called, then the notification posted")
  func order() {
    let network = Scripted()
    let manager = manager(network)
    let steps = Log<String>()
    manager.setReachabilityStatusChange { [weak manager] status in
      steps.add("block \(status.rawValue) \(manager?.networkReachabilityStatus.rawValue ?? 9)")
    }
    let observer = Observer(.AFNetworkingReachabilityDidChange, of: manager) { [weak manager] notification in
      let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? NSNumber
      steps.add("post \(item?.intValue ?? 9) \(manager?.networkReachabilityStatus.rawValue ?? 9)")
    }
    manager.startMonitoring()
    network.roam()
    network.unplug()
    #expect(steps.values == ["block 2 2", "post 2 2", "block 1 1", "post 1 1", "block 0 0", "post 0 0"])
    #expect(!manager.isReachable)
    withExtendedLifetime(observer) {}
  }

  @Test("Events that change nothing are not told; a new start is")
  func noRepeats() {
    let network = Scripted()
    let manager = manager(network)
    manager.setReachabilityStatusChange { [log] in log.add($0) }
    manager.startMonitoring()
    network.kernel.change([.routeAdded])
    network.plugDirectly()
    #expect(log.values == [.reachableViaWiFi])
    manager.startMonitoring()
    #expect(log.values == [.reachableViaWiFi, .reachableViaWiFi])
  }

  @Test("Stopping keeps the block and the last status, and nothing is told after it")
  func stopped() async {
    let network = Scripted()
    let queue = DispatchQueue(label: "listener")
    let manager = manager(network, .default, .queue(queue))
    manager.setReachabilityStatusChange { [log] in log.add($0) }
    manager.startMonitoring()
    queue.sync {}
    queue.suspend()
    network.unplug()
    manager.stopMonitoring()
    queue.resume()
    queue.sync {}
    #expect(log.values == [.reachableViaWiFi])
    #expect(manager.networkReachabilityStatus == .reachableViaWiFi && manager.isReachableViaWiFi)
    manager.startMonitoring()
    queue.sync {}
    #expect(log.values == [.reachableViaWiFi, .notReachable])
    manager.setReachabilityStatusChange(nil)
    network.plug()
    queue.sync {}
    #expect(log.values.count == 2 && manager.isReachable)
  }

  @Test("What is told comes on the main queue")
  func mainQueue() async {
    let manager = manager(Scripted(), .default, .main)
    let isMain = Log<Bool>()
    manager.setReachabilityStatusChange { _ in isMain.add(isOnMainQueue) }
    manager.startMonitoring()
    await becomes { !isMain.values.isEmpty }
    #expect(isMain.values == [true])
  }

  @Test("When the kernel refuses, nothing is told and the status stays unknown")
  func refused() {
    let network = Scripted()
    network.kernel.refuseStart(KernelError(operation: "socket", errno: 13, message: "Permission denied"))
    let manager = manager(network)
    manager.setReachabilityStatusChange { [log] in log.add($0) }
    manager.startMonitoring()
    #expect(log.values.isEmpty && manager.networkReachabilityStatus == .unknown)
  }

  @Test(
    "What is no host is found unreachable instead of crashing",
    arguments: ["", "https://www.example.com", "a b", "1.2.3", "a:80", "http://x/", "user@host"])
  func noHost(_ domain: String) async {
    // The public initialiser's target, on a scripted kernel.
    let target = (try? ReachabilityTarget(host: domain)) ?? ReachabilityTarget(.name(domain))
    let manager = manager(Scripted(), target)
    #expect(AFNetworkReachabilityManager(forDomain: domain).networkReachabilityStatus == .unknown)
    manager.setReachabilityStatusChange { [log] in log.add($0) }
    manager.startMonitoring()
    // At once: a name that is not resolved yet would be reachable first.
    await becomes { !log.values.isEmpty }
    #expect(log.values == [.notReachable] && manager.networkReachabilityStatus == .notReachable)
  }

  @Test("A manager goes with its last reference, also while it monitors")
  func lifetime() {
    let network = Scripted()
    var manager: AFNetworkReachabilityManager? = manager(network)
    weak let reference = manager
    manager?.setReachabilityStatusChange { [log] in log.add($0) }
    manager?.startMonitoring()
    manager = nil
    network.unplug()
    #expect(reference == nil && log.values == [.reachableViaWiFi])
  }
}
