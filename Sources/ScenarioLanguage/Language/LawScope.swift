/// What the names of an expression stand for.
package struct LawScope: Sendable, Equatable {
  /// Rows of each entity, those of its sub-entities included.
  package var rows: [String: Int]
  /// The number given by `--scale`.
  package var scale: Int

  package init(rows: [String: Int] = [:], scale: Int = 1) {
    self.rows = rows
    self.scale = scale
  }

  /// The value of a name; nil when it names nothing.
  package func value(of name: String) -> Int? {
    name == "scale" ? scale : rows[name]
  }
}
