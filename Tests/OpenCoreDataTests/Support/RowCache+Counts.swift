@testable import OpenCoreData

extension RowCache {
  /// Entries with a row.
  var rowCount: Int {
    var count = 0
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in
        if entry.pointee.row != nil { count += 1 }
      }
    }
    return count
  }

  /// The number of owners of all entries.
  var ownerCount: Int {
    var count = 0
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in count += Int(entry.pointee.owners) }
    }
    return count
  }
}

extension CachingStore {
  /// Row-cache entries with a row.
  var cachedRowCount: Int {
    withShared { $0.rows.rowCount }
  }

  /// The number of query generations that contexts or tokens retain.
  var liveGenerationCount: Int {
    withShared { shared in shared.generations.count { $0.generation != nil } }
  }
}
