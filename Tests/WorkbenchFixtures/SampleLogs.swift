import Foundation
package import LogAnalysis

/// Reads logs and creates their lines.
package enum SampleLogs {
  /// Reads a string as a log.
  package static func report(_ text: String, tracing: Bool = false) -> LogReport {
    report(Array(text.utf8), tracing: tracing)
  }

  /// Writes bytes to a temporary file and reads it as a log.
  package static func report(_ bytes: [UInt8], tracing: Bool = false) -> LogReport {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("log-\(UUID().uuidString).log")
    defer { try? FileManager.default.removeItem(at: file) }
    do {
      try Data(bytes).write(to: file)
      return try LogReader.read(try LogLines(path: file.path), of: file.path, tracing: tracing)
    } catch {
      preconditionFailure("The log of a test can't be read: \(error)")
    }
  }

  /// Returns the lines of a fetch with its times.
  package static func fetch(_ sql: String, rows: Int, time: String = "0.0002s") -> String {
    """
    CoreData: sql: \(sql)
    CoreData: annotation: sql connection fetch time: 0.0001s
    CoreData: annotation: total fetch execution time: \(time) for \(rows) rows.

    """
  }

  /// Returns the lines of an object fault that missed the row cache.
  package static func fault(_ entity: String, _ key: Int) -> String {
    fetch(
      "SELECT 0, t0.Z_PK, t0.Z_OPT FROM Z\(entity.uppercased()) t0 WHERE  t0.Z_PK = ?  LIMIT 1",
      rows: 1)
      + "CoreData: annotation: fault fulfilled from database for : 0xd0 "
      + "<x-coredata://0783522F-1851-4BC7-AE0D-AB4C83489E8B/\(entity)/p\(key)>\n"
  }
}
