import Foundation

/// A program of the system that a test runs if it's installed.
enum Tool {
  /// Whether a program is in the PATH.
  static func exists(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
  }
}
