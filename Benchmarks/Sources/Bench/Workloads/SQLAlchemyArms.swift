import Foundation

/// Python's SQLAlchemy on the same files.
///
/// Each arm runs in a separate process, which measures its own time.
struct SQLAlchemyArms {
  let builder: StoreBuilder
  let url: URL

  /// Checks that SQLAlchemy 2 is installed for `python3`.
  ///
  /// - Throws: A `BenchError` that describes how to install it.
  static func check() throws {
    let version = try? output(["-c", "import sqlalchemy; print(sqlalchemy.__version__)"])
    guard let version, version.hasPrefix("2.") else {
      throw BenchError(
        "--peers requires SQLAlchemy 2 for python3: python3 -m pip install 'sqlalchemy>=2,<3'")
    }
  }

  /// Returns the arms for the workloads that SQLAlchemy supports, by the workload's name.
  func arms(_ name: String, operations: Int) -> [Arm] {
    switch name {
    case "fetch, realized": [arm { ["fetch", url.path] }]
    case "fault from the database": [arm { ["lookups", url.path, "\(operations)"] }]
    case "prefetch of a to-many": [arm { ["prefetch", url.path] }]
    case "insert and save":
      [
        arm {
          let empty = try builder.emptyStore("insert-sqlalchemy.sqlite")
          return ["insert", empty.path, "\(operations)"]
        }
      ]
    default: []
    }
  }

  private func arm(_ arguments: @escaping () throws -> [String]) -> Arm {
    Arm(program: .sqlalchemy) {
      let script = SQLAlchemyArms.folder.appendingPathComponent("sqlalchemy_arms.py").path
      let text = try SQLAlchemyArms.output([script] + arguments())
      guard let time = UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw BenchError("sqlalchemy_arms.py didn't print a time: \(text)")
      }
      return time
    }
  }

  /// The folder `Benchmarks/Peers`, next to the sources of this build.
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Peers")

  private static func output(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchError("python3 \(arguments.joined(separator: " ")) failed")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
