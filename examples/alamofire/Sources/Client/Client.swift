import Alamofire

@main struct Client {
  static func main() async {
    let manager = Alamofire.NetworkReachabilityManager(host: "localhost")
    let (statuses, continuation) = AsyncStream.makeStream(
      of: Alamofire.NetworkReachabilityManager.NetworkReachabilityStatus.self)
    manager?.startListening(onQueue: DispatchQueue(label: "listener")) { status in continuation.yield(status) }
    for await status in statuses {
      print("Network Status Changed: \(status)")
      break
    }
    manager?.stopListening()
  }
}
