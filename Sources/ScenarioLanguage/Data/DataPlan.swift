package import OpenCoreData
package import WorkbenchText

/// The data a scenario runs on.
package struct DataPlan: Sendable {
  /// Where the rows come from.
  package enum Source: Sendable {
    /// Made anew, entity by entity, in the order of writing.
    case generated([EntityPlan])
    /// Copied from a store, which is not changed.
    case copied(URL)
  }

  package var source: Source
  /// The same seed gives the same values.
  package var seed: UInt64

  package init(source: Source, seed: UInt64 = 1) {
    self.source = source
    self.seed = seed
  }

  /// Own rows of each planned entity, in the order of writing; empty for a copied store.
  ///
  /// A count may use the entities written before it.
  /// - Throws: `LawError` when a count has no whole value, or a negative one, and when there are more rows
  ///   than `InputLimits.rows` in all.
  package func counts(scale: Int) throws(LawError) -> [EntityCount] {
    guard case .generated(let plans) = source else { return [] }
    var scope = LawScope(scale: scale)
    var counts = [EntityCount]()
    for plan in plans {
      let count = try plan.count.value(in: scope)
      let total = counts.reduce(count) { $0 + $1.count }
      guard count >= 0, total <= InputLimits.rows else {
        let rows = total == count ? "\(count) rows of \(plan.entity) are" : "\(total) rows are"
        throw LawError(
          text: plan.count.text,
          message: count < 0
            ? "\(plan.entity) cannot have \(count) rows"
            : "\(rows) above the limit of all data, \(NumberText.grouped(InputLimits.rows))",
          place: plan.count.place)
      }
      scope.rows[plan.entity] = count
      counts.append(EntityCount(name: plan.entity, count: count))
    }
    return counts
  }
}
