@testable import OpenCoreData

extension RowCache {
  /// Entries that hold a row.
  var rowCount: Int {
    var count = 0
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in
        if entry.pointee.row != nil { count += 1 }
      }
    }
    return count
  }

  /// The owners of all entries.
  var ownerCount: Int {
    var count = 0
    for root in 0..<tables.count {
      tables[root].forEach { _, entry in count += Int(entry.pointee.owners) }
    }
    return count
  }
}

extension CachingStore {
  /// Entries of the row cache that hold a row.
  var cachedRowCount: Int {
    withShared { $0.rows.rowCount }
  }

  /// The query generations that contexts or tokens keep.
  var liveGenerationCount: Int {
    withShared { shared in shared.generations.count { $0.generation != nil } }
  }
}
