import Foundation
import GRDB

/// GRDB on the same files.
struct GRDBArms {
  let bed: Bed

  /// All rows as records.
  func records() -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        let start = now()
        let moods = try GRDBMood.fetchAll(database)
        let time = now() - start
        guard moods.count == bed.rows else { throw BenchError("\(moods.count) records") }
        return time
      }
    }
  }

  /// All keys.
  func keys() -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        let start = now()
        let keys = try Int64.fetchAll(database, sql: "SELECT Z_PK FROM ZMOOD")
        let time = now() - start
        guard keys.count == bed.rows else { throw BenchError("\(keys.count) keys") }
        return time
      }
    }
  }

  /// Records by key, one by one, through one prepared statement or through `fetchOne(key:)`.
  func lookups(_ positions: [Int], isCached: Bool) -> Arm {
    Arm(program: .grdb) { [bed] in
      try DatabaseQueue(path: bed.url.path).read { database in
        var moods: [GRDBMood] = []
        moods.reserveCapacity(positions.count)
        let start = now()
        for position in positions {
          let statement = try database.cachedStatement(sql: "SELECT * FROM ZMOOD WHERE Z_PK = ?")
          if let mood = try GRDBMood.fetchOne(statement, arguments: [Int64(position + 1)]) {
            moods.append(mood)
          }
        }
        let time = now() - start
        guard moods.count == positions.count else { throw BenchError("\(moods.count) records") }
        return time
      }
    }
  }

  /// New records in one transaction, with the keys given.
  static func insert(_ values: [MoodValues], _ url: URL) throws -> UInt64 {
    let queue = try DatabaseQueue(path: url.path)
    return try queue.writeWithoutTransaction { database in
      let start = now()
      try database.inTransaction {
        for (index, value) in values.enumerated() {
          try GRDBMood(key: Int64(index + 1), value).insert(database)
        }
        return .commit
      }
      return now() - start
    }
  }
}
