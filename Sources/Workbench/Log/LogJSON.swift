package import Foundation

/// A log as JSON: one object with sorted keys; times in seconds, as in the log.
package enum LogJSON {
  /// The text, with an end of line.
  package static func data(_ report: LogReport, judged: LogJudgement? = nil) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(LogDocument(report, judged))
    data.append(UInt8(ascii: "\n"))
    return data
  }
}
