import Foundation

/// Writes the measured part of `Documentation/performance.md`.
enum Documentation {
  private static let begin =
    "<!-- measured: written by bench --write-documentation, not by hand -->"
  private static let end = "<!-- end of measured -->"

  /// Replaces the text between the two marks of the page.
  ///
  /// - Parameter digest: The digest of the measured sources, which a test compares with the present
  ///   ones.
  static func write(_ report: Report, digest: String, to url: URL) throws {
    let page = try String(contentsOf: url, encoding: .utf8)
    guard let first = page.range(of: begin), let last = page.range(of: end),
      first.upperBound <= last.lowerBound
    else { throw BenchError("\(url.path) doesn't contain the lines '\(begin)' and '\(end)'") }
    let table = table(report, digest)
    let text = page[..<first.upperBound] + "\n\n" + table + "\n" + page[last.lowerBound...]
    try String(text).write(to: url, atomically: true, encoding: .utf8)
  }

  /// Returns the digest of the sources that decide the times, as `Scripts/hot-path.sh` prints it.
  static func hotPathDigest() throws -> String {
    let output = try Child.output(
      of: URL(fileURLWithPath: "/bin/sh"), ["Scripts/hot-path.sh"])
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func table(_ report: Report, _ digest: String) -> String {
    let machine = report.machine
    var text = """
      Measured \(machine.date) on \(machine.processor), \(machine.cores) cores, \
      \(machine.memoryGiB) GiB, \(machine.system), Swift \(machine.swift), \
      SQLite \(machine.sqlite); \(machine.rows) rows, \(machine.rounds) rounds; \
      hot path `\(digest)`.

      | workload | against | floor, ns | ours, ns | ratio | of medians | of CPU | to plain Swift | limit | |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |

      """
    for floor in report.floors {
      text += "| \(floor.name) | \(floor.against) "
      text += "| \(Table.pair(floor.floorMinimum, floor.floorMedian)) "
      text += "| \(Table.pair(floor.oursMinimum, floor.oursMedian)) "
      text += "| \(Table.number(floor.ratio)) | \(floor.medianRatio.map(Table.number) ?? "") "
      text += "| \(floor.processorRatio.map(Table.number) ?? "") "
      text += "| \(floor.plainRatio.map(Table.number) ?? "") "
      text += "| \(floor.limit.map { "\($0)" } ?? "") "
      text += "| \(floor.met.map { $0 ? "met" : "**exceeded**" } ?? "") |\n"
    }
    text += "\n| peer | workload | ns | ratio to C | of medians |\n"
    text += "| --- | --- | --- | --- | --- |\n"
    for peer in report.peers {
      text += "| \(peer.name) | \(peer.workload) | \(Table.pair(peer.minimum, peer.median)) "
      text += "| \(Table.number(peer.ratio)) | \(Table.number(peer.medianRatio)) |\n"
    }
    text += "\n"
    return text + notes(of: report.floors)
  }

  /// The notes below the table; one that several workloads share is written once.
  private static func notes(of floors: [Floor]) -> String {
    var names: [String: [String]] = [:]
    var notes: [String] = []
    for floor in floors where !floor.note.isEmpty {
      if names[floor.note] == nil { notes.append(floor.note) }
      names[floor.note, default: []].append(floor.name)
    }
    return notes.map { "- \(names[$0, default: []].joined(separator: "; ")): \($0)\n" }.joined()
  }
}
