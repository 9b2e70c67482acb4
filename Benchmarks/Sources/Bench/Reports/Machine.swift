import CFloor
import Foundation

/// The machine and the software versions of a measurement.
struct Machine: Codable {
  let date: String
  let processor: String
  let cores: Int
  let memoryGiB: Int
  let system: String
  let swift: String
  let sqlite: String
  let rows, rounds: Int

  init(rows: Int, rounds: Int) {
    let process = ProcessInfo.processInfo
    date = Date().formatted(.iso8601.year().month().day())
    processor = Machine.field("model name", in: "/proc/cpuinfo") ?? "unknown"
    cores = process.activeProcessorCount
    memoryGiB = Int((Double(process.physicalMemory) / 1_073_741_824).rounded())
    system = Machine.release ?? process.operatingSystemVersionString
    swift = Machine.swiftVersion
    sqlite = cfloor_sqlite_version().map { String(cString: $0) } ?? "unknown"
    self.rows = rows
    self.rounds = rounds
  }

  private static var release: String? {
    guard let text = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8) else {
      return nil
    }
    for line in text.split(separator: "\n") where line.hasPrefix("PRETTY_NAME=") {
      return line.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" }
    }
    return nil
  }

  private static func field(_ name: String, in path: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix(name) {
      return line.split(separator: ":").last.map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    return nil
  }

  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
