import ArgumentParser
import CSandbox
import Foundation
import Testing

@testable import WorkbenchCommands

@Suite(
  "Commands that only read are confined",
  .enabled(if: csandbox_version() > 0, "The kernel or the container has no Landlock."))
struct SandboxTests {
  /// What code in the process might try, each with what it returns: 0, or the error.
  private struct Attempts {
    let store: String
    let secret: String
    let folder: String

    private func result(_ status: Int32) -> Int32 { status < 0 ? errno : 0 }

    private func opening(_ path: String, _ flags: Int32) -> Int32 {
      let descriptor = open(path, flags, 0o600)
      guard descriptor >= 0 else { return errno }
      close(descriptor)
      return 0
    }

    private func starting(_ path: String) -> Int32 {
      var process = pid_t()
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
      defer { free(arguments[0]) }
      return posix_spawn(&process, path, nil, nil, &arguments, nil)
    }

    /// The attempts to reach something outside of the folder, or to change something in it.
    var forbidden: [(name: String, result: Int32)] {
      [
        ("read another file", opening(secret, O_RDONLY)),
        ("read it by a relative path", opening("\(folder)/../private/secret", O_RDONLY)),
        ("read it by a link", opening("\(folder)/link", O_RDONLY)),
        ("read it by its name in /proc", opening("/proc/self/root\(secret)", O_RDONLY)),
        ("list its folder", opening((secret as NSString).deletingLastPathComponent, O_RDONLY)),
        ("list the current folder", opening(".", O_RDONLY)),
        ("write the store", opening(store, O_RDWR)),
        ("append to the store", opening(store, O_WRONLY | O_APPEND)),
        ("empty the store", result(truncate(store, 0))),
        ("remove the store", result(unlink(store))),
        ("rename the store", result(rename(store, store + ".old"))),
        ("link the store", result(link(store, store + ".link"))),
        ("create a file", opening(store + "-wal", O_WRONLY | O_CREAT)),
        ("create a link", result(symlink(secret, folder + "/new"))),
        ("create a folder", result(mkdir(folder + "/folder", 0o700))),
        ("create a file in /tmp", opening("/tmp/cdprof-escape", O_WRONLY | O_CREAT)),
        ("create a file in /dev/shm", opening("/dev/shm/cdprof-escape", O_WRONLY | O_CREAT)),
        ("start a program", starting("/bin/true")),
        ("start a script of the folder", starting(folder + "/script")),
        ("connect", result(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))),
        ("send", result(socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0))),
        ("connect to a service", result(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))),
      ]
    }

    /// Prints the forbidden attempts that succeeded, and the allowed ones that didn't.
    func report(_ thread: String) {
      for (name, result) in forbidden where ![EACCES, EPERM, EXDEV].contains(result) {
        print("\(thread): \(name) returned \(result)")
      }
      let temporary = String(cString: getenv("TMPDIR")) + "/file"
      for (name, result) in [
        ("read the store", opening(store, O_RDONLY)),
        ("read the folder", opening(folder, O_RDONLY)),
        ("write a temporary file", opening(temporary, O_RDWR | O_CREAT)),
        ("remove a temporary file", result(unlink(temporary))),
      ] where result != 0 {
        print("\(thread): \(name) returned \(result)")
      }
      print("\(thread) is done")
    }
  }

  @Test func nothingElseCanBeReachedOrChanged() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let folder = try TestFolder()
      for name in ["stores", "private"] {
        try FileManager.default.createDirectory(
          at: folder.file(name), withIntermediateDirectories: false)
      }
      let store = try folder.write("rows", to: "stores/a.sqlite")
      let secret = try folder.write("key", to: "private/secret")
      let script = try folder.write("#!/bin/sh\n", to: "stores/script")
      chmod(script, 0o700)
      symlink(secret, folder.file("stores/link").path)
      let attempts = Attempts(
        store: store, secret: secret, folder: folder.file("stores").path)
      // Standard input isn't a file of this folder.
      #expect(chdir(folder.file("private").path) == 0)
      #expect(Sandbox.enter(reading: [store, "-"]))
      attempts.report("this thread")
      let ended = DispatchSemaphore(value: 0)
      Thread {
        attempts.report("a new thread")
        ended.signal()
      }.start()
      ended.wait()
      // The folder can't be removed anymore.
      exit(0)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    let lines = output.split(separator: "\n").filter { $0.contains("thread") }
    #expect(lines == ["this thread is done", "a new thread is done"])
  }

  /// The process is confined as a whole: the thread of the command, those of signals and queues.
  @Test func everyThreadOfTheProgramIsConfined() throws {
    let program = try BuiltProgram()
    let outcome = try program.bash(
      """
      mkfifo pipe
      "$CDPROF" log - < pipe > out.txt & process=$!
      exec 3> pipe
      until [ "$(ls /proc/$process/task | wc -l)" -ge 3 ]; do sleep 0.05; done
      grep -h -E '^(NoNewPrivs|Seccomp):' /proc/$process/task/*/status | sort | uniq -c
      exec 3>&-
      wait $process; echo "status $?"
      """)
    let lines = outcome.output.split(separator: "\n").map {
      $0.split(whereSeparator: \.isWhitespace).map(String.init)
    }
    let threads = try #require(lines.first?.first.flatMap { Int($0) })
    #expect(threads >= 3)
    #expect(
      lines.prefix(2).map { Array($0.dropFirst()) } == [["NoNewPrivs:", "1"], ["Seccomp:", "2"]])
    #expect(lines.prefix(2).map(\.first) == ["\(threads)", "\(threads)"])
    #expect(outcome.output.contains("status 65"), "\(outcome.errors)")
    #expect(program.leftovers == [])
  }

  private static let inputs: [(arguments: [String], inputs: [String]?)] = [
    (["inspect", "a/s.sqlite"], ["a/s.sqlite"]), (["doctor", "s", "--repair", "t"], nil),
    (["doctor", "s"], ["s"]), (["log", "-", "--store", "s"], ["-", "s"]),
    (["log", "l", "--report", "html", "--out", "p"], nil), (["diff", "a", "b"], ["a", "b"]),
    (["advise", "a.yml"], nil), (["model", "a", "--check", "--from", "b"], ["a", "b"]),
    (["predicate", "a == 1", "--model", "m", "--entity", "E"], ["m"]),
  ]

  /// A repair writes, so it isn't confined to reading.
  @Test(arguments: inputs)
  func inputsAreTheNamedFiles(arguments: [String], inputs: [String]?) throws {
    let command = try CDProf.parseAsRoot(arguments)
    #expect((command as? any Confined)?.inputs == inputs)
  }
}
