import Foundation
import Synchronization
import WorkbenchText

/// What belongs to a tab of a browser: a folder, a shell, and the page of its last run.
///
/// Sessions share nothing, so tabs can't disturb each other.
final class BrowserSession: Sendable {
  /// An error for a second request while the first one isn't answered.
  struct Busy: Error {}

  private struct State {
    var lastUse = ContinuousClock.now
    var isBusy = false
    var shell: ShellProcess?
    var isEnded = false
  }

  /// The name by which the tab's requests identify the session.
  let name = RandomName.make()
  private let folder: URL
  private let state = Mutex(State())

  /// - Parameter parent: The folder of the server, in which to create the session's.
  /// - Throws: An error of the file system.
  init(in parent: URL) throws {
    folder = parent.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
  }

  /// Whether the session wasn't used for a time and can be ended.
  var isUnused: Bool {
    let limit = Duration.seconds(InputLimits.browserSessionTime)
    return state.withLock { !$0.isBusy && ContinuousClock.now - $0.lastUse > limit }
  }

  /// Keeps the session from being ended as unused.
  func use() {
    state.withLock { $0.lastUse = .now }
  }

  /// The page of the last run.
  var page: URL { folder.appendingPathComponent("page.html") }

  /// Runs a closure for the tab, with an empty folder that's removed at the end.
  ///
  /// - Throws: `Busy` if the tab's previous request isn't answered yet, `CancellationError` if the
  ///   session has ended; the closure's error.
  func run<Value: Sendable>(_ body: @Sendable (URL) async throws -> Value) async throws -> Value {
    try begin()
    defer { end() }
    let run = folder.appendingPathComponent("run", isDirectory: true)
    // Left over from a run that couldn't be removed.
    try? FileManager.default.removeItem(at: run)
    try FileManager.default.createDirectory(at: run, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: run) }
    return try await body(run)
  }

  /// Runs a line in the tab's shell, or starts a new shell on the text of a scenario.
  ///
  /// - Parameters:
  ///   - line: The line; empty to run nothing.
  ///   - start: The path and the text of the scenario of a new shell; `nil` to use the open one.
  /// - Returns: The first answer of a new shell, and that to the line.
  /// - Throws: `Busy`; `CancellationError` if the session has ended; an error of the system.
  func answer(
    to line: String, startingWith start: (path: String, text: String)?
  ) async throws -> (banner: String, answer: ShellProcess.Answer) {
    try begin()
    defer { end() }
    return try await BlockingWork.run { [self] in
      var banner = ""
      if let start {
        endShell()
        let shells = folder.appendingPathComponent("shell", isDirectory: true)
        try? FileManager.default.removeItem(at: shells)
        let shell = try ShellProcess(path: start.path, text: start.text, folder: shells)
        guard keep(shell) else { throw CancellationError() }
        let answer = shell.banner()
        banner = answer.output
        if answer.ends {
          endShell()
          return (banner, ShellProcess.Answer(output: "", ends: true))
        }
      }
      guard let shell = state.withLock({ $0.shell }) else {
        return (banner, ShellProcess.Answer(output: "", ends: true))
      }
      guard !line.isEmpty else { return (banner, ShellProcess.Answer(output: "", ends: false)) }
      let answer = shell.answer(to: line)
      if answer.ends { endShell() }
      return (banner, answer)
    }
  }

  /// Ends the shell and removes the folder.
  func close() {
    state.withLock { $0.isEnded = true }
    endShell()
    try? FileManager.default.removeItem(at: folder)
  }

  private func begin() throws {
    try state.withLock { state in
      guard !state.isEnded else { throw CancellationError() }
      guard !state.isBusy else { throw Busy() }
      state.isBusy = true
    }
  }

  private func end() {
    state.withLock { state in
      state.isBusy = false
      state.lastUse = .now
    }
  }

  private func keep(_ shell: ShellProcess) -> Bool {
    let isKept = state.withLock { state in
      guard !state.isEnded else { return false }
      state.shell = shell
      return true
    }
    if !isKept { shell.end() }
    return isKept
  }

  private func endShell() {
    let shell = state.withLock { state in
      defer { state.shell = nil }
      return state.shell
    }
    shell?.end()
  }
}

/// The sessions of all tabs.
final class BrowserSessions: Sendable {
  /// An error for a session beyond the limit.
  struct TooMany: Error {}

  private let folder: URL
  private let all = Mutex<[String: BrowserSession]>([:])

  /// - Parameter folder: The folder in which each session gets its own.
  init(in folder: URL) {
    self.folder = folder
  }

  /// Returns the session with a name, or `nil` if there's none.
  func session(named name: String) -> BrowserSession? {
    all.withLock { $0[name] }
  }

  /// Returns the session with a name, or creates one.
  ///
  /// Creating one ends the sessions that are unused (`isUnused`), and removes their folders.
  ///
  /// - Throws: `TooMany` if all sessions are in use; an error of the file system.
  func session(resuming name: String?) throws -> BrowserSession {
    var unused: [BrowserSession] = []
    defer { for one in unused { one.close() } }
    return try all.withLock { all in
      if let name, let session = all[name] {
        session.use()
        return session
      }
      unused = all.values.filter(\.isUnused)
      for one in unused { all[one.name] = nil }
      guard all.count < InputLimits.browserSessions else { throw TooMany() }
      let session = try BrowserSession(in: folder)
      all[session.name] = session
      return session
    }
  }
}
