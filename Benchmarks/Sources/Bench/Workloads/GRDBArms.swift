import Foundation
import GRDB

/// GRDB on the same files.
struct GRDBArms {
  let bed: Bed

  /// Returns an arm that fetches all rows as records.
  func records() -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        let (moods, time) = try timed { try GRDBMood.fetchAll(database) }
        guard moods.count == bed.rows else { throw BenchError("\(moods.count) records") }
        return time
      }
    }
  }

  /// Retains all rows as records while a block runs.
  func hold(_ body: () -> Void) throws {
    let moods = try DatabaseQueue(path: bed.url.path).read { try GRDBMood.fetchAll($0) }
    withExtendedLifetime(moods, body)
  }

  /// Returns an arm that fetches all primary keys.
  func keys() -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        let (keys, time) = try timed { try Int64.fetchAll(database, sql: "SELECT Z_PK FROM ZMOOD") }
        guard keys.count == bed.rows else { throw BenchError("\(keys.count) keys") }
        return time
      }
    }
  }

  /// Returns an arm that fetches records by primary key, one at a time, with one prepared
  /// statement.
  func lookups(_ positions: [Int]) -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        var moods: [GRDBMood] = []
        moods.reserveCapacity(positions.count)
        let sql = "SELECT * FROM ZMOOD WHERE Z_PK = ?"
        let time = try timed {
          for position in positions {
            let statement = try database.cachedStatement(sql: sql)
            if let mood = try GRDBMood.fetchOne(statement, arguments: [Int64(position + 1)]) {
              moods.append(mood)
            }
          }
        }.time
        guard moods.count == positions.count else { throw BenchError("\(moods.count) records") }
        return time
      }
    }
  }

  /// Inserts records with given primary keys in one transaction.
  static func insert(_ values: [MoodValues], _ url: URL) throws -> UInt64 {
    let queue = try DatabaseQueue(path: url.path)
    return try queue.writeWithoutTransaction { database in
      try timed {
        try database.inTransaction {
          for (index, value) in values.enumerated() {
            try GRDBMood(key: Int64(index + 1), value).insert(database)
          }
          return .commit
        }
      }.time
    }
  }
}
