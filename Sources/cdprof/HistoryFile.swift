import Foundation

/// Where the lines typed into the shell are kept from one time to the next.
struct HistoryFile {
  let path: String

  /// The file under `$XDG_STATE_HOME`, or `~/.local/state` where that is not set; nil without a home.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    // The specification has relative paths ignored.
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = state ?? home.map({ "\($0)/.local/state" }) else { return nil }
    path = "\(folder)/cdprof/history"
  }

  /// Makes the folder, for this user alone; whether it is there then.
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
