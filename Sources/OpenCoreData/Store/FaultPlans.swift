/// How the faults of each entity are read: its SELECT, and a decoder with buffers of its own.
///
/// Made at first need. One reader has it on loan from the store, because a decoder serves one thread.
final class FaultPlans: @unchecked Sendable {  // one reader has it at a time
  /// By layout index.
  private var plans: [Int: FaultPlan] = [:]

  /// The statement and the decoder of an entity's faults.
  func plan(_ layout: EntityLayout, in store: SQLiteStore) -> FaultPlan {
    if let plan = plans[layout.index] { return plan }
    let query = store.translator.fault(entity: store.entity(layout))
    let plan = FaultPlan(
      query: query, decoder: RowDecoder(projection: query.projection, layouts: store.layouts))
    plans[layout.index] = plan
    return plan
  }
}

/// How the faults of one entity are read.
final class FaultPlan {
  let query: SelectQuery
  let decoder: RowDecoder

  init(query: SelectQuery, decoder: RowDecoder) {
    self.query = query
    self.decoder = decoder
  }
}
