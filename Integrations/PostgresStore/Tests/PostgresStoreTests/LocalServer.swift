import Foundation
import Glibc
import Testing

/// A server of one test, in a folder of its own, which the test stops and starts.
final class LocalServer {
  let folder: URL
  /// The URI of its database.
  private(set) var uri = ""

  private static let script = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("server.sh").path

  /// Creates the data of a server that isn't running.
  init() throws {
    // The path of its socket is limited to about 100 bytes.
    let name = "/tmp/postgres-store-\(UUID().uuidString.prefix(8))"
    folder = URL(fileURLWithPath: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try run("create")
    uri = try run("url").trimmingCharacters(in: .newlines)
  }

  deinit {
    _ = try? run("stop")
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts the server, with settings such as `fsync=off`.
  func start(_ settings: [String] = []) throws { try run("start", settings) }

  /// Stops the server at once, without a checkpoint.
  func stop() throws { try run("stop") }

  /// Kills the server's first process.
  func kill() throws { try run("kill") }

  @discardableResult
  private func run(_ command: String, _ arguments: [String] = []) throws -> String {
    try Self.output("/bin/sh", [Self.script, command, folder.path] + arguments)
  }

  /// Runs `psql` with a statement, and returns the rows, with columns separated by a vertical bar.
  func psql(_ sql: String) throws -> [String] { try Self.psql(uri, sql) }

  /// Runs `psql` on a database.
  static func psql(_ uri: String, _ sql: String) throws -> [String] {
    try output("/usr/bin/env", ["psql", "-X", "-A", "-t", uri, "-c", sql])
      .split(separator: "\n").map(String.init)
  }

  /// Runs a program, and returns its output; fails the test if it fails.
  ///
  /// Foundation's `Process` takes a program for running as long as a process that it has started
  /// is, as the server.
  private static func output(_ program: String, _ arguments: [String]) throws -> String {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("LocalServer-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    var environment =
      ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + environment { free(word) } }
    var process = pid_t()
    try #require(posix_spawn(&process, program, &actions, nil, &words, &environment) == 0)
    var status: Int32 = 0
    while waitpid(process, &status, 0) == -1, errno == EINTR {}
    try #require(status == 0, "\(arguments.joined(separator: " ")) has failed")
    return try String(contentsOf: file, encoding: .utf8)
  }
}
