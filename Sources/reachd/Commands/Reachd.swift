internal import ArgumentParser
internal import Service

/// The program.
struct Reachd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reachd",
    abstract: "Knows from the kernel whether this machine and its peers can be reached, and says so at once.",
    discussion: """
      EXAMPLES
        reachd serve                          serve HTTP on 127.0.0.1:8080
        reachd serve --listen 0.0.0.0:8080    ... on every address
        reachd status                         ask the service: exit 0 reachable, 1 not, 2 unclear
        reachd status --direct                ask the kernel, without a service
        reachd watch                          print a line whenever the way out changes
        reachd watch db.internal 10.0.0.9     ... or the way to these hosts
        reachd check tcp://db:5432 --explain  ask a target, and say which layer says no
        reachd wait db.internal --timeout 60s come back when it can be reached
        reachd targets --state down           list what a service has registered
        reachd config check --config reachd.yaml
        reachd token create --scope read      make a token for those who may ask

      EXIT CODES
        0 yes, 1 no, 2 could not tell, 64 usage, 69 unavailable, 70 internal error, 74 output,
        78 configuration
      """,
    version: "reachd \(Version.current)",
    subcommands: [
      ServeCommand.self, StatusCommand.self, WatchCommand.self, CheckCommand.self, WaitCommand.self,
      TargetsCommand.self, HealthcheckCommand.self, ConfigCommand.self, TokenCommand.self,
    ])
}
