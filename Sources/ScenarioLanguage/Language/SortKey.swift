/// One sort descriptor as it is written: `date-`, `country.name`.
package struct SortKey: Sendable, Hashable, CustomStringConvertible {
  package var keyPath: String
  package var isAscending: Bool

  package init(keyPath: String, isAscending: Bool = true) {
    self.keyPath = keyPath
    self.isAscending = isAscending
  }

  /// Reads `key`, `key+` (the same) or `key-` (descending); nil when no key is left.
  package init?(_ text: String) {
    let isMarked = text.hasSuffix("-") || text.hasSuffix("+")
    let keyPath = isMarked ? String(text.dropLast()) : text
    guard !keyPath.isEmpty else { return nil }
    self.init(keyPath: keyPath, isAscending: !text.hasSuffix("-"))
  }

  package var description: String {
    isAscending ? keyPath : keyPath + "-"
  }
}
