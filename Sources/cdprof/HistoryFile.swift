import Foundation

/// The file that stores the shell's command history.
struct HistoryFile {
  let path: String

  /// Locates the file under `$XDG_STATE_HOME`, or under `~/.local/state` if that isn't set.
  ///
  /// Returns nil if `HOME` isn't set either.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    // The XDG specification requires that relative paths be ignored.
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = state ?? home.map({ "\($0)/.local/state" }) else { return nil }
    path = "\(folder)/cdprof/history"
  }

  /// Creates the folder, accessible only to this user, and returns whether it exists.
  func makeFolder() -> Bool {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return true
    } catch {
      return false
    }
  }
}
