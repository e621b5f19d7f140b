import Foundation
import Glibc
import TestSupport
import Testing

/// `reachd wait TARGET … -- COMMAND`: the command runs in place of reachd, with everything that reachd has inherited.
@Suite struct WaitForCommandTests {
  /// A condition that holds.
  private static let wait = "reachd wait 127.0.0.1 -- "

  /// Runs the command after `wait`, and alone, as a shell would execute it.
  private func both(
    _ before: String, under wrapper: String = "", _ command: String, wait: String = Self.wait
  ) throws -> [(Child.End, String)] {
    try [wait, ""].map { prefix in
      let (end, output, errors) = try Program.shell("set +e; \(before)exec \(wrapper)\(prefix)\(command)")
      // The message names the program that could not execute it.
      #expect(errors.isEmpty || end == .exited(126) || end == .exited(127), "\(errors)")
      return (end, output)
    }
  }

  @Test(arguments: [
    "true", "false", "sh -c 'exit 3'", "sh -c 'exit 130'", "sh -c 'exit 143'", "sh -c 'kill -TERM $$'",
    "sh -c 'kill -INT $$'", "sh -c 'kill -KILL $$'", "sh -c 'printf %s, \"$@\"' name -- a -- '' --any --timeout",
    "printf '%s.' '' ' ' \"$(printf '\\377\\001')\" é", "nosuch-command", "/nonexistent/command", "/etc/passwd/x",
    "/etc/passwd", "/etc", "sh -c 'pwd; umask; id'", "cat",
  ])
  func endsAsTheCommandDoes(command: String) throws {
    let results = try both("", command)
    #expect(results[0] == results[1])
  }

  @Test func failuresToExecuteAreReportedAsByAShell() throws {
    for (command, code) in [("nosuch-command", Int32(127)), ("/nonexistent", 127), ("/etc/passwd", 126)] {
      let (end, output, errors) = try Program.run(["wait", "127.0.0.1", "--", command, "argument"])
      #expect(end == .exited(code) && output.isEmpty)
      #expect(errors.hasPrefix("reachd: \(command): ") && errors.split(separator: "\n").count == 1, "\(errors)")
    }
    // A file without #! is a script of the shell, as for a shell.
    let directory = try TemporaryDirectory()
    let script = "\(directory.path)/script"
    try "echo \"$1\"; exit 5".write(toFile: script, atomically: true, encoding: .utf8)
    #expect(unsafe chmod(script, 0o755) == 0)
    let (end, output, _) = try Program.run(["wait", "127.0.0.1", "--", script, "x"])
    #expect(end == .exited(5) && output == "x\n")
  }

  @Test func commandHasTheProcessAndTheTimeWaited() throws {
    let child = try Program.start(
      ["wait", "127.0.0.1", "--", "/bin/sh", "-c", "echo $$ $REACHD_WAITED_MS $OWN"],
      environment: ["OWN": "kept", "REACHD_WAITED_MS": "of another wait"])
    #expect(try child.wait() == .exited(0))
    let words = child.output.split(whereSeparator: \.isWhitespace)
    #expect(words.count == 3 && words.first == "\(child.id)" && words.last == "kept", "\(child.output)")
    #expect(words.dropFirst().first.flatMap { Int($0) } != nil, "\(child.output)")
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
  func signalsReachTheCommand(number: Int32) throws {
    // A reader of a FIFO without a writer never ends.
    let trap = "cat $0 & trap 'echo caught; kill $!; exit 9' \(number); echo ready; wait $!"
    let directory = try TemporaryDirectory()
    let fifo = "\(directory.path)/fifo"
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let child = try Child(
      Program.path, ["wait", "127.0.0.1", "--", "/bin/sh", "-c", trap, fifo], environment: Program.environment(),
      isUnblocked: true)
    #expect(eventually { child.output == "ready\n" }, "\(child.errors)")
    child.kill(number)
    #expect(try child.wait() == .exited(9))
    #expect(child.output == "ready\ncaught\n")
  }

  @Test(arguments: [
    "", "env --ignore-signal=PIPE ", "env --ignore-signal=CHLD --ignore-signal=INT --ignore-signal=TERM ",
    "env --block-signal=TERM --block-signal=INT --block-signal=PIPE --block-signal=USR1 ",
    "env --ignore-signal=HUP --block-signal=CHLD --block-signal=RTMIN ",
  ])
  func signalMaskAndDispositionsAreInherited(wrapper: String) throws {
    let command = "grep -E '^Sig(Blk|Ign|Cgt|Pnd)|^ShdPnd' /proc/self/status"
    for wait in [Self.wait, "reachd wait tcp://127.0.0.1:PORT -- "] {
      let bound = try Loopback.bound(.stream)
      listen(bound.descriptor, 8)
      let wait = wait.replacing("PORT", with: "\(bound.port)")
      let results = try both("", under: wrapper, command, wait: wait)
      #expect(Self.masks(results[0].1) == Self.masks(results[1].1) && results[0].0 == .exited(0))
    }
  }

  /// The masks of signals in lines of `/proc/PID/status`, without the two that glibc reserves (nptl(7)).
  private static func masks(_ lines: String) -> [String: UInt64] {
    let pairs = lines.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
    return Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), (UInt64($0[1], radix: 16) ?? 0) & ~(3 << 31)) })
  }

  /// Every prober, names, and results in JSON open files and sockets of their own.
  @Test func onlyInheritedDescriptorsStay() throws {
    let service = try RunningService()
    let address = String(service.url.dropFirst("http://".count))
    let targets = [
      "127.0.0.1", "localhost", "tcp://\(address)", "\(service.url)/livez", "icmp://127.0.0.1",
      "tcp://localhost:\(address.split(separator: ":").last ?? "")",
    ]
    for before in ["", "exec 9</etc/passwd; ", "exec 3<&0 7>&2 250</dev/null; ", "exec <&-; ", "exec 2>&-; "] {
      let results = try both(
        before, "ls /proc/self/fd", wait: "reachd wait \(targets.joined(separator: " ")) --any -- ")
      #expect(results[0] == results[1], "\(before)")
      for target in targets where target != "icmp://127.0.0.1" {
        #expect(try both(before, "ls /proc/self/fd", wait: "reachd wait \(target) -- ")[0] == results[1], "\(target)")
      }
    }
  }

  @Test(arguments: ["ulimit -Sn 200; ", "ulimit -n 200; ", "umask 077; ", "ulimit -Sc 0; ulimit -s 4096; "])
  func limitsAreInherited(before: String) throws {
    let results = try both(before, "sh -c 'ulimit -Sa; ulimit -Ha; umask'")
    #expect(results[0] == results[1])
  }

  /// An attribute of the thread that calls execve(2).
  @Test func signalAtTheEndOfTheParentStays() throws {
    let results = try both("", under: "setpriv --pdeathsig=USR1 ", "setpriv --dump")
    #expect(results[0] == results[1])
    #expect(results[0].1.contains("Parent death signal: USR1"), "\(results[0].1)")
  }

  @Test func lockOfAShellIsHeldByTheCommand() throws {
    let directory = try TemporaryDirectory()
    let (end, output, errors) = try Program.shell(
      """
      exec 9>\(directory.path)/lock
      flock 9
      \(Self.wait)sh -c 'exec 8>\(directory.path)/lock; flock -n 8 || echo held'
      """)
    #expect(end == .exited(0) && output == "held\n", "\(errors)")
  }

  @Test func nothingIsStartedAfterATimeoutOrASignal() throws {
    let directory = try TemporaryDirectory()
    let marker = "\(directory.path)/started"
    for options in [["10.9.9.9%nosuch1"], ["tcp://127.0.0.1:1"], ["127.0.0.1", "--not"]] {
      let late = try Program.run(["wait"] + options + ["--timeout", "50ms", "--", "touch", marker])
      #expect(late.end == .exited(1) && late.errors.contains("timeout after 50ms"), "\(late.errors)")
    }
    for number in [SIGTERM, SIGINT] {
      let child = try Program.start(["wait", "10.9.9.9%nosuch1", "--timeout", "1h", "--", "touch", marker])
      #expect(
        eventually { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.id)/task").count) ?? 0 > 1 })
      child.kill(number)
      #expect(try child.wait() == .killed(number))
    }
    #expect(!FileManager.default.fileExists(atPath: marker))
  }

  @Test func commandIsStartedWhenTheTargetAnswers() throws {
    let bound = try Loopback.bound(.stream)
    let child = try Program.start([
      "wait", "tcp://127.0.0.1:\(bound.port)", "--timeout", "60s", "--", "echo", "started",
    ])
    // The port is bound, and refuses connections.
    #expect(
      eventually { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.id)/task").count) ?? 0 > 1 })
    #expect(child.poll() == nil && child.output.isEmpty)
    listen(bound.descriptor, 8)
    #expect(try child.wait(within: .seconds(60)) == .exited(0))
    #expect(child.output == "started\n")
  }

  @Test(arguments: [
    ["wait", "127.0.0.1", "--"], ["wait", "--", "db"], ["wait", "--"], ["wait", "--any", "--", "true"],
  ])
  func incompleteCommandLinesExit64(arguments: [String]) throws {
    let (end, output, errors) = try Program.run(arguments)
    #expect(end == .exited(64) && output.isEmpty && errors.contains("Error: "), "\(errors)")
  }
}
