/// When a lightweight migration removes what doesn't affect reading: the columns of removed properties, the
/// tables of removed entities and relationships, and indexes.
enum Cleanup: Hashable, Sendable {
  /// In the migration itself.
  case now
  /// After the migration, when the app finishes it.
  case later
  /// From one table, whose migration is finished; the others stay as they are.
  case of(table: String)

  /// Whether only work is done that an earlier migration has put off.
  var isFinishing: Bool {
    if case .of = self { true } else { false }
  }
}

extension LightweightMigrationPlan {
  /// Returns whether the migration removes columns and indexes of a table that the new version doesn't have.
  ///
  /// - Parameter table: The table's name in the new version.
  func cleansUp(_ table: String) -> Bool {
    switch cleanup {
    case .now: true
    case .later: false
    case .of(let finished): finished.uppercased() == table.uppercased()
    }
  }
}
