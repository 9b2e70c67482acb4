import Foundation

#if GRDB
  import GRDB
#endif

/// GRDB on the same files.
///
/// Without the package's trait `GRDB`, there are no arms.
struct GRDBArms {
  let bed: Bed
}

#if GRDB
  extension GRDBArms {
    static let areAvailable = true

    /// Returns an arm that fetches all rows as records.
    func records() -> [Arm] {
      arm { [bed] database in
        let (moods, time) = try timed { try GRDBMood.fetchAll(database) }
        guard moods.count == bed.rows else { throw BenchError("\(moods.count) records") }
        return time
      }
    }

    /// Retains all rows as records while a block runs.
    func hold(_ body: () -> Void) throws {
      let moods = try DatabaseQueue(path: bed.url.path).read { try GRDBMood.fetchAll($0) }
      withExtendedLifetime(moods, body)
    }

    /// Returns an arm that fetches all primary keys.
    func keys() -> [Arm] {
      arm { [bed] database in
        let (keys, time) = try timed { try Int64.fetchAll(database, sql: "SELECT Z_PK FROM ZMOOD") }
        guard keys.count == bed.rows else { throw BenchError("\(keys.count) keys") }
        return time
      }
    }

    /// Returns an arm that fetches records by primary key, one at a time, with one prepared
    /// statement.
    func lookups(_ positions: [Int]) -> [Arm] {
      arm { database in
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

    private func arm(_ read: @escaping (Database) throws -> UInt64) -> [Arm] {
      [
        Arm(program: .grdb) { [bed] in
          try DatabaseQueue(path: bed.url.path).read(read)
        }
      ]
    }

    /// Returns an arm that inserts records with given primary keys in one transaction.
    static func insertions(_ values: [MoodValues], _ builder: StoreBuilder) -> [Arm] {
      [
        Arm(program: .grdb) {
          let queue = try DatabaseQueue(path: builder.emptyStore("insert-grdb.sqlite").path)
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
      ]
    }
  }
#else
  extension GRDBArms {
    static let areAvailable = false

    func records() -> [Arm] { [] }

    func hold(_ body: () -> Void) throws { throw BenchError("GRDB isn't compiled") }

    func keys() -> [Arm] { [] }

    func lookups(_ positions: [Int]) -> [Arm] { [] }

    static func insertions(_ values: [MoodValues], _ builder: StoreBuilder) -> [Arm] { [] }
  }
#endif
