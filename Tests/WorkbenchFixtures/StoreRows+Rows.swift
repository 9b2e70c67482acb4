package import StoreTools

extension StoreRows {
  /// Calls a closure with each readable row.
  package func forEach(_ body: (StoreRow) throws -> Void) throws {
    try forEachBatch { try $0.forEach(body) }
  }
}
