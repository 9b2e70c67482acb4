import ManagedModel

/// What a comparison does with its two sides.
struct ComparisonRules {
  let type: NSComparisonPredicate.Operator
  let options: NSComparisonPredicate.Options

  /// The comparison as it is written, for messages.
  let piece: String

  init(_ comparison: NSComparisonPredicate) {
    type = comparison.predicateOperatorType
    options = comparison.options
    piece = comparison.predicateFormat
  }

  private init(
    type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options, piece: String
  ) {
    self.type = type
    self.options = options
    self.piece = piece
  }

  /// The same options with another operator.
  func with(_ type: NSComparisonPredicate.Operator) -> ComparisonRules {
    ComparisonRules(type: type, options: options, piece: piece)
  }

  /// Whether texts are compared otherwise than byte by byte.
  var isLenient: Bool {
    !options.contains(.normalized)
      && !options.isDisjoint(with: [
        .caseInsensitive, .diacriticInsensitive, .localeSensitive, .widthInsensitive,
      ])
  }

  /// The operator's sign in SQL, for the operators that have one.
  var sign: String {
    switch type {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .notEqualTo: "<>"
    default: "="
    }
  }
}
