public import NetworkReachability

extension ReachabilityMonitor {
  /// A monitor of a scripted kernel, which is not started.
  ///
  /// - Parameters:
  ///   - configuration: its settings.
  ///   - kernel: the state of the network; other monitors may use it, too.
  ///   - names: replaces the hosts file and the name servers; nil to use those.
  public convenience init(
    configuration: Configuration = Configuration(), kernel: ScriptedKernel, names: (any NameSource)? = nil
  ) {
    self.init(configuration: configuration, kernel: { kernel }, names: names)
  }
}
