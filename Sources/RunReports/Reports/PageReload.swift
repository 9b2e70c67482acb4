package import Foundation
import ManagedModel
import WorkbenchText

/// What makes an open page reload when it's written again, even from a file without a server.
///
/// The page loads a script next to it again and again, which names the version of the page that was
/// written last. The page's policy allows that script by a nonce, and no other.
package struct PageReload: Sendable {
  /// The version of the page, and of the script that's written after it.
  let version: String
  /// The nonce of the script in the page's policy.
  let nonce: String
  /// The relative URL of the script.
  let script: String
  private let name: String

  /// - Parameter name: The name of the page's file without its extension.
  package init(of name: String) {
    self.name = name
    version = UUID().uuidString
    nonce = UUID().uuidString
    script = "./" + RunIndex.url(PageReload.fileName(name))
  }

  private static func fileName(_ name: String) -> String { "\(name).reload.js" }

  /// Returns the script of a page.
  ///
  /// - Parameters:
  ///   - name: The name of the page's file without its extension.
  ///   - folder: The folder of the page.
  package static func url(of name: String, in folder: URL) -> URL {
    folder.appendingPathComponent(fileName(name))
  }

  /// Writes the script, after the page was written.
  ///
  /// - Throws: The errors of `OutputFile.write(_:to:force:)`.
  package func write(in folder: URL, force: Bool) throws {
    let text = "\(OutputMark.reload)\ncdprofReload(\"\(version)\");\n"
    try OutputFile.write(
      Data(text.utf8), to: PageReload.url(of: name, in: folder), force: force)
  }
}
