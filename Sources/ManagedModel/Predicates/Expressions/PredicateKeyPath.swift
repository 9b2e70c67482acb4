/// A parsed key path: keys and collection operators.
package struct PredicateKeyPath: Hashable, Sendable, CustomStringConvertible {
  /// A component of a key path.
  package enum Component: Hashable, Sendable {
    case key(String)
    case `operator`(CollectionOperator)
    /// `%K` in a format that was parsed without arguments.
    case placeholder
  }

  /// The text, like `keyPath`, without the `#` that precedes reserved words in a format.
  package let text: String
  package let components: [Component]
  /// The key, if the path consists of only one.
  package let onlyKey: String?

  package init(_ text: String) {
    self.init(
      components: text.split(separator: ".", omittingEmptySubsequences: false).map(Self.component))
  }

  init(components: [Component]) {
    self.components = components
    if components.count == 1, case .key(let key) = components[0] {
      text = key
      onlyKey = PredicateKeyword.of(key) == .self ? nil : key
    } else {
      text = components.map(Self.text).joined(separator: ".")
      onlyKey = nil
    }
  }

  package var description: String { text }

  /// Whether the path is the object itself.
  var isSelf: Bool {
    text == "self" || text == "SELF"
  }

  /// The keys before the first operator, or all keys if there's no operator.
  package var keys: [String] {
    components.prefix { if case .key = $0 { true } else { false } }.map(Self.text)
  }

  /// The first operator, and the keys after it: `@max` and `age` in `moods.@max.age`.
  package var collectionOperator: (operator: CollectionOperator, rest: [Component])? {
    for (index, component) in components.enumerated() {
      if case .operator(let found) = component {
        return (found, Array(components[(index + 1)...]))
      }
    }
    return nil
  }

  static func text(_ component: Component) -> String {
    switch component {
    case .key(let key): key
    case .operator(let found): found.rawValue
    case .placeholder: "%K"
    }
  }

  static func component(_ text: Substring) -> Component {
    if text.first == "@", let found = CollectionOperator(rawValue: String(text)) {
      return .operator(found)
    }
    return text == "%K" ? .placeholder : .key(String(text))
  }
}
