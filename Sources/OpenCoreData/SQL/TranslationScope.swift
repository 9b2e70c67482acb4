/// One `FROM` with its joins: the query's own, or that of a subselect.
final class TranslationScope {
  /// A table joined to another of the scope.
  private struct Join {
    let alias: String
    let text: String
    let parent: String
    /// Rows without a partner may go: the whole condition would be false for them.
    var isInner: Bool
  }

  let entity: SQLEntity

  /// The name of the subquery's variable, without `$`.
  let variable: String?

  /// Where a key path of this scope starts.
  private(set) var start: TranslationPosition?

  private let aliases: AliasCounter
  private var joins: [Join] = []
  private var shared: [String: String] = [:]

  init(entity: SQLEntity, variable: String?, aliases: AliasCounter) {
    self.entity = entity
    self.variable = variable
    self.aliases = aliases
  }

  func begin(at position: TranslationPosition) {
    start = position
  }

  /// The alias of the table of a position, joined now if it is not yet.
  ///
  /// - Parameter isRequired: Whether rows without a partner may go.
  func alias(of position: TranslationPosition, isRequired: Bool) -> String {
    switch position.place {
    case .table(let alias):
      if isRequired { require(alias) }
      return alias
    case .reference(let holder, let alias):
      if let known = shared[position.key] {
        if isRequired { require(known) }
        return known
      }
      let alias = alias ?? aliases.next()
      let table = SQLNames.quoted(position.entity.table)
      add(
        " \(table) \(alias) ON \(position.key) = \(alias).Z_PK", alias: alias, parent: holder,
        isRequired: isRequired)
      shared[position.key] = alias
      return alias
    }
  }

  /// Joins a table which may have several partners for a row.
  ///
  /// Each call joins it anew.
  func joinMany(
    _ table: String, alias: String, on condition: String, parent: String, isRequired: Bool
  ) {
    add(
      " \(SQLNames.quoted(table)) \(alias) ON \(condition)", alias: alias, parent: parent,
      isRequired: isRequired)
  }

  /// The joins as SQL, in the order in which they were needed.
  var text: String {
    joins.map { ($0.isInner ? " JOIN" : " LEFT OUTER JOIN") + $0.text }.joined()
  }

  var hasJoins: Bool { !joins.isEmpty }

  private func add(_ text: String, alias: String, parent: String, isRequired: Bool) {
    joins.append(Join(alias: alias, text: text, parent: parent, isInner: false))
    if isRequired { require(alias) }
  }

  /// Makes a join and those it hangs on inner ones.
  private func require(_ alias: String) {
    guard let index = joins.firstIndex(where: { $0.alias == alias }), !joins[index].isInner
    else { return }
    joins[index].isInner = true
    require(joins[index].parent)
  }
}
