/// An index that was tried on a copy of the store and helped.
package struct IndexProposal: Sendable {
  /// What one statement gains.
  package struct Gain: Sendable, Equatable {
    package var sql: String
    package var count: Int
    /// VM steps of one run.
    package var before: Int
    /// VM steps of one run with all proposed indexes.
    package var after: Int
    package var planBefore: [String]
    package var planAfter: [String]
  }

  package var candidate: IndexCandidate
  /// The index's name in the file, as Core Data forms it.
  package var name: String
  /// `byCountryAndDate`: its name in the model, which no other index of the entity has.
  package var modelName: String
  /// The entity whose model gets it; nil where the store's model does not tell.
  package var entity: String?
  /// The properties, in the order of the columns; empty where the model does not tell.
  package var properties: [String]
  /// The statements that use it, the one that gains most first.
  package var gains: [Gain]
  /// VM steps of inserting one row without and with it; nil where no row could be inserted.
  package var insertSteps: (before: Int, after: Int)?
  /// Its size; nil where SQLite was built without `dbstat`.
  package var size: (pages: Int, bytes: Int)?

  /// VM steps of the whole work, its statements as often as they ran.
  package var stepsBefore: Int { gains.reduce(0) { $0 + $1.before * $1.count } }
  /// VM steps of the same work with the index.
  package var stepsAfter: Int { gains.reduce(0) { $0 + $1.after * $1.count } }

  /// `Mood (country, date descending)`; columns where the model does not tell.
  package var title: String {
    let names = properties.isEmpty ? candidate.parts.map(\.column) : properties
    let parts = zip(names, candidate.parts).map { $0 + ($1.isDescending ? " descending" : "") }
    return "\(entity ?? candidate.table) (\(parts.joined(separator: ", ")))"
      + (condition.map { " where \($0)" } ?? "")
  }

  /// The statement that makes it by hand.
  package var sql: String { candidate.sql(named: name) }

  /// A name for an index of properties: `byCountryAndDate`.
  static func modelName(_ properties: [String], isPartial: Bool) -> String {
    "by"
      + properties.map { path in
        path.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      }.joined(separator: "And")
      + (isPartial ? "NotNil" : "")
  }

  private var condition: String? {
    guard candidate.notNull != nil else { return nil }
    return "\(properties.first ?? candidate.parts[0].column) != nil"
  }

  /// The element of an entity in an `.xcdatamodel`, line by line; empty where the model does not tell.
  package var modelElement: [String] {
    guard !properties.isEmpty else { return [] }
    let partial = condition.map { " partialIndexPredicate=\"\($0)\"" } ?? ""
    return ["<fetchIndex name=\"\(modelName)\"\(partial)>"]
      + zip(properties, candidate.parts).map { property, part in
        "    <fetchIndexElement property=\"\(property)\" type=\"Binary\" "
          + "order=\"\(part.isDescending ? "descending" : "ascending")\"/>"
      } + ["</fetchIndex>"]
  }
}
