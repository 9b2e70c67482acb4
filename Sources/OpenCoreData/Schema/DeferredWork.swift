/// The work that deferred lightweight migrations of a store have put off.
///
/// It's part of the store's metadata, so each transaction that does some of it removes it from there.
struct DeferredWork: Hashable, Sendable, CustomStringConvertible {
  /// The tables that no entity or relationship has any longer.
  var tables: [String] = []
  /// The tables with columns or indexes that the model doesn't have.
  private(set) var changed: [String] = []
  /// The indexes of those tables that the model doesn't have.
  private(set) var indexes: [String] = []

  /// What's left to do, for a log.
  var description: String {
    let parts =
      (tables.isEmpty ? [] : ["drop \(tables.joined(separator: ", "))"])
      + (changed.isEmpty
        ? [] : ["remove columns and indexes of \(changed.joined(separator: ", "))"])
    return parts.joined(separator: "; ")
  }

  /// Whether there's no work.
  var isEmpty: Bool { tables.isEmpty && changed.isEmpty }

  /// Returns whether a table has columns or indexes that the model doesn't have.
  func hasChanged(_ table: String) -> Bool {
    changed.contains { $0.uppercased() == table.uppercased() }
  }

  /// Adds a table with columns that the model doesn't have.
  mutating func addChanged(_ table: String) {
    if !hasChanged(table) { changed.append(table) }
  }

  /// Adds an index that the model doesn't have.
  mutating func add(index: String, of table: String) {
    addChanged(table)
    indexes.append(index)
  }
}

extension DeferredWork {
  private static let tablesKey = "tables"
  private static let changedKey = "changed"
  private static let indexesKey = "indexes"

  /// Reads the work from a store's metadata; none if the metadata doesn't list any.
  init(_ metadata: [String: Any]) {
    let lists = metadata[StoreMetadata.deferredWorkKey] as? [String: [String]] ?? [:]
    self.init(
      tables: lists[Self.tablesKey] ?? [], changed: lists[Self.changedKey] ?? [],
      indexes: lists[Self.indexesKey] ?? [])
  }

  /// Writes the work to a store's metadata, with Core Data's flag for pending work.
  func write(to metadata: inout [String: Any]) {
    metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] = isEmpty ? nil : true
    metadata[StoreMetadata.deferredWorkKey] =
      isEmpty
      ? nil : [Self.tablesKey: tables, Self.changedKey: changed, Self.indexesKey: indexes]
  }
}
