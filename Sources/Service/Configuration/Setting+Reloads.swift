extension Setting {
  /// The settings that SIGHUP changes while the service runs; all others need a restart, and a reload says so.
  ///
  /// docs/configuration.md lists them; a ``ConfigurationReloader/Participant`` carries each out.
  static let reloadable: Set<String> = [
    "log.level", "log.format", "log.access", "settle", "drainDelay", "grace", "allowedHosts", "allowedOrigins",
    "access.reads", "access.checks", "tokens", "tokensFile", "limits.streams", "limits.requestBody", "limits.targets",
    "limits.checksPerSecond", "resolver.timeout",
    "targets", "modules", "policy",
  ]

  /// Settings that are live as long as they were there at the start and still are: a server that speaks TLS reads its
  /// certificate again, but none begins or ceases to speak it.
  static let reloadableIfInitiallySet: Set<String> = ["tls.certificate", "tls.key"]
}
