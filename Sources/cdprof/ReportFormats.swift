import ArgumentParser
import Foundation
import OpenCoreData
import RunReports

/// The value of `--report`: report formats, separated by commas.
struct ReportFormats: CustomStringConvertible {
  /// The formats in the order given, without duplicates.
  let formats: [ReportFormat]

  init(_ formats: [ReportFormat]) {
    self.formats = formats
  }

  /// - Throws: A `ValidationError` for an unknown format.
  init(_ words: String) throws {
    formats = try words.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) {
      formats, part in
      let word = part.trimmingCharacters(in: .whitespaces)
      guard let format = ReportFormat(rawValue: word) else {
        let near = NearestName.of(word, among: ReportFormat.allCases.map(\.rawValue))
        throw ValidationError(
          "unknown report format `\(word)`\(near.map { "; did you mean `\($0)`?" } ?? "")\n"
            + "use one or more of: \(ReportFormat.words)")
      }
      if !formats.contains(format) { formats.append(format) }
    }
  }

  var description: String { formats.map(\.rawValue).joined(separator: ",") }
}

extension CompletionKind {
  /// Completes the last word of a comma-separated list, and doesn't offer words already in it.
  ///
  /// The shell runs the program to get the completions.
  static func words(_ words: [String]) -> CompletionKind {
    .custom { _, _, typed in
      let before = typed.lastIndex(of: ",").map { typed[...$0] } ?? ""
      let taken = before.split(separator: ",").map(String.init)
      return words.filter { !taken.contains($0) }.map { before + $0 }
    }
  }
}
