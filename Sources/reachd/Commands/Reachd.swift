internal import ArgumentParser
internal import Service

/// The root command.
struct Reachd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reachd",
    abstract: "Reports from the kernel whether this machine and other hosts are reachable, and every change.",
    discussion: """
      EXAMPLES
        reachd serve                          serve HTTP on 127.0.0.1:8080
        reachd serve --listen 0.0.0.0:8080    ... on every address
        reachd status                         query the service: exit 0 reachable, 1 not, 2 undetermined
        reachd status --direct                query the kernel, without a service
        reachd watch                          print a line whenever the default path changes
        reachd watch db.internal 10.0.0.9     ... or the paths to these hosts
        reachd check tcp://db:5432 --explain  check a target, and show which layer fails
        reachd wait db.internal --timeout 60s wait until it is reachable
        reachd targets --state down           list the registered targets of a service
        reachd config check --config reachd.yaml
        reachd token create --scope read      create a token for clients

      EXIT CODES
        0 yes, 1 no, 2 undetermined, 64 usage, 69 unavailable, 70 internal error, 74 output,
        78 configuration
      """,
    version: "reachd \(Version.current)",
    subcommands: [
      ServeCommand.self, StatusCommand.self, WatchCommand.self, CheckCommand.self, WaitCommand.self,
      TargetsCommand.self, HealthcheckCommand.self, ConfigCommand.self, TokenCommand.self,
    ])
}
