extension Setting {
  /// The settings that SIGHUP changes while the service runs; all others need a restart, and a reload says so.
  ///
  /// README lists them; a ``Reloading/Step`` carries each out.
  static let live: Set<String> = [
    "log.level", "log.format", "log.access", "settle", "drainDelay", "grace", "allowedHosts", "allowedOrigins",
    "access.reads", "access.checks", "tokens", "tokensFile", "tls.certificate", "tls.key", "limits.streams",
    "limits.requestBody", "resolver.timeout",
  ]
}
