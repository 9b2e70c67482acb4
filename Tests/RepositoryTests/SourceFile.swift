import Foundation
import Testing

/// One Swift file: its text, and its text with comments and literals blanked.
struct SourceFile: Sendable, CustomTestStringConvertible {
  /// From the package's root: `Sources/Profiling/Recording/Recorder.swift`.
  let path: String
  let lines: [String]
  /// As many lines; what stands in comments and string literals is gone.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    lines = text.components(separatedBy: "\n")
    code = SwiftText.code(of: text).components(separatedBy: "\n")
  }

  var testDescription: String { path }

  /// Whether `cdprof generate` wrote it, so that its names are Xcode's.
  var isGenerated: Bool {
    lines[0].hasPrefix("// Written by cdprof generate")
  }

  /// The folder below Sources or Tests.
  var module: String {
    path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
  }

  /// The last component without `.swift`.
  var name: String {
    String((path as NSString).lastPathComponent.dropLast(".swift".count))
  }

  /// `path:line` for a place counted from 0.
  func place(_ index: Int) -> String {
    "\(path):\(index + 1)"
  }

  /// Each module that an import line names, with the line's place.
  var imports: [(module: String, place: String)] {
    let line =
      /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
    return code.enumerated().compactMap { index, text in
      (try? line.firstMatch(in: text)).map { (String($0.1), place(index)) }
    }
  }
}
