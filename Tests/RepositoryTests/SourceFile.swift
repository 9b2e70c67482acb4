import Foundation
import Testing

/// A Swift file: its lines, and its lines without comments and string literals.
struct SourceFile: Sendable, CustomTestStringConvertible {
  /// The path relative to the root folder, such as `Sources/RunResults/Recording/Recorder.swift`.
  let path: String
  let text: String
  let lines: [String]
  /// The text without comments and the contents of string literals.
  let codeText: String
  /// Its lines.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = text.components(separatedBy: "\n")
    codeText = SwiftText.code(of: text)
    code = codeText.components(separatedBy: "\n")
  }

  var testDescription: String { path }

  /// Whether `cdprof generate` generated the file, so its name follows Xcode's convention.
  var isGenerated: Bool {
    lines[0].hasPrefix("// Written by cdprof generate")
  }

  /// The folder in Sources or Tests.
  var module: String {
    path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
  }

  /// The file name without `.swift`.
  var name: String {
    String((path as NSString).lastPathComponent.dropLast(".swift".count))
  }

  /// Returns `path:line` for a zero-based line index.
  func location(_ index: Int) -> String {
    "\(path):\(index + 1)"
  }

  /// Returns the locations of the lines of code that contain a match.
  ///
  /// Most files contain none, and are searched as a whole, which is faster than line by line.
  func locations(of regex: some RegexComponent) -> [String] {
    guard codeText.contains(regex) else { return [] }
    return code.indices.filter { code[$0].contains(regex) }.map(location)
  }

  /// The imported modules, with the locations of their import declarations.
  var imports: [(module: String, location: String)] {
    let line =
      /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
    return code.enumerated().compactMap { index, text in
      (try? line.firstMatch(in: text)).map { (String($0.1), location(index)) }
    }
  }
}
