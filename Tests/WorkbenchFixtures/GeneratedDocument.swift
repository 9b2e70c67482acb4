import Foundation

/// A file in `Documentation` that is generated from code.
package enum GeneratedDocument {
  /// Returns the text of a file, which is first replaced if the tests run with
  /// `CDPROF_UPDATE_DOCS=1`.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - generated: The text that it should have.
  package static func text(of name: String, generated: String) throws -> String {
    let file = PackagedScenarios.folder.deletingLastPathComponent()
      .appendingPathComponent("Documentation/\(name)")
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      try generated.write(to: file, atomically: true, encoding: .utf8)
    }
    return try String(contentsOf: file, encoding: .utf8)
  }
}
