import Foundation

/// Python's SQLAlchemy on the same files, each piece of work in a process of its own that times itself.
struct SQLAlchemyArms {
  let builder: StoreBuilder
  let url: URL

  /// The interpreter that has SQLAlchemy 2.
  ///
  /// - Throws: when there is none, with what to install.
  static func check() throws {
    let version = try? output(["-c", "import sqlalchemy; print(sqlalchemy.__version__)"])
    guard let version, version.hasPrefix("2.") else {
      throw BenchError(
        "--peers needs SQLAlchemy 2 for python3: python3 -m pip install 'sqlalchemy>=2,<3'")
    }
  }

  /// The arms of the rows that SQLAlchemy has an equal for, by the rows' names.
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
        throw BenchError("sqlalchemy_arms.py printed no time: \(text)")
      }
      return time
    }
  }

  /// `Benchmarks/Peers`, beside the sources this was built from.
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
