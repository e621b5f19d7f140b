import Glibc
import TestSupport
import Testing

@testable import HostProcess

@Suite("A child process with limits")
struct ChildProgramTests {
  private func run(_ script: String, timeLimit: Duration = patience, byteLimit: Int = 1 << 20) -> ChildProgram.Output {
    ChildProgram.output(of: "/bin/sh", ["-c", script], timeLimit, byteLimit)
  }

  @Test("The output is complete, also that of a process that is killed afterwards")
  func output() {
    #expect(run("echo a; echo b") == ChildProgram.Output(bytes: Array("a\nb\n".utf8)))
    #expect(run("echo a; kill -9 $$").bytes == Array("a\n".utf8))
    let many = run("head -c 300000 /dev/zero")
    #expect(many.bytes.count == 300_000 && many.problem == nil)
    #expect(run("exit 3") == ChildProgram.Output())
  }

  @Test("A process that does not end is killed, and what it has written is returned")
  func timeLimit() throws {
    let output = run("echo $$; exec sleep 600", timeLimit: .milliseconds(300))
    #expect(output.problem == "it did not end within 0 s")
    let process = try #require(Int32(String(decoding: output.bytes, as: UTF8.self).filter(\.isNumber)))
    #expect(eventually { kill(process, 0) != 0 })
  }

  @Test("A process that writes without end is killed")
  func byteLimit() {
    let output = run("echo $$; exec yes", byteLimit: 100_000)
    #expect(output.problem == "its output has more than 100000 bytes")
    #expect(output.bytes.count > 100_000 && output.bytes.count < 1 << 20)
  }

  @Test("A program that cannot be started is a problem, and standard input is empty")
  func start() {
    let none = ChildProgram.output(of: "/none", [], patience, 1)
    #expect(none.problem == "posix_spawn: No such file or directory")
    #expect(run("cat") == ChildProgram.Output())
  }

  @Test("Signals that this process blocks or ignores end the child")
  func signals() {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGTERM)
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    #expect(run("kill -TERM $$; echo survived").bytes.isEmpty)
  }
}
