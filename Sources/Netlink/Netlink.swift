public import Logging
public import ReachabilityModel
public final class NetlinkSource: KernelSource {
  public init(logger: Logger) {}
  public func start(_ observer: any KernelObserver) throws(KernelError) {}
  public func refresh() {}
  public func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { [:] }
  public func stop() {}
}
