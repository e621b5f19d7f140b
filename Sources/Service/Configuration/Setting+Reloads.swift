extension Setting {
  /// The settings that SIGHUP changes while the service runs; all others need a restart, which a reload reports.
  ///
  /// docs/reference/settings.md lists them; a ``ConfigurationReloader/Participant`` applies each.
  static let reloadable: Set<String> = [
    "log.level", "log.format", "log.access", "settle", "drainDelay", "grace", "allowedHosts", "allowedOrigins",
    "access.reads", "access.checks", "access.badges", "access.gates", "page", "tokens", "tokensFile",
    "watchConfiguration", "limits.streams",
    "limits.requestBody",
    "limits.targets",
    "limits.checksPerSecond", "limits.changesPerSecond", "metrics.targetLabels", "resolver.timeout",
    "targets", "modules", "policy", "webhooks", "gates",
  ]

  /// The settings that are live while they are present both at the start and now.
  ///
  /// A server that uses TLS reads its certificate again, but no server starts or stops using TLS.
  static let reloadableIfInitiallySet: Set<String> = ["tls.certificate", "tls.key"]
}
