import ManagedModel

/// The names of tables and indexes, or of triggers, that a new file has.
///
/// Names of a model can differ in case only, which SQLite ignores, or be the same once they're
/// joined: an index `b_c` of the entity `A` and an index `c` of `A_b`. The second one gets a
/// number.
struct ClaimedNames {
  private var taken: Set<String>

  /// Begins with names in use.
  init(_ names: some Sequence<String> = []) { taken = Set(names.map(SQLNames.folded)) }

  /// Claims and returns a name, or the first unused numbered one.
  ///
  /// - Parameter endings: What's appended to the name for each object that's created with it.
  mutating func take(_ name: String, endings: [String] = [""]) -> String {
    take(name) { name in endings.map { name + $0 } }
  }

  /// Claims and returns a name for which other names are unused, or the first such numbered one.
  ///
  /// - Parameter others: Returns the names that depend on a name.
  mutating func take(_ name: String, _ others: (String) -> [String]) -> String {
    let free = SQLNames.free(name) { others($0).contains { taken.contains(SQLNames.folded($0)) } }
    taken.formUnion(others(free).map(SQLNames.folded))
    return free
  }
}
