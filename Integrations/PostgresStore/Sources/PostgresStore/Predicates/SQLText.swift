import PostgresDriver

/// A part of a statement, with its values, which are numbered when the statement is complete.
///
/// A part that occurs several times has the same numbers everywhere, so that the server sees that an
/// expression of GROUP BY or ORDER BY is that of the list.
struct SQLText: ExpressibleByStringInterpolation {
  fileprivate enum Piece {
    case text(String)
    case value(Parameter)
  }

  /// A value with an identity.
  fileprivate final class Parameter {
    let value: PostgresValue

    init(_ value: PostgresValue) {
      self.value = value
    }
  }

  fileprivate var pieces: [Piece]

  /// Creates a text of keywords, signs, and names that are already quoted: never of a value.
  init(raw text: String) {
    pieces = [.text(text)]
  }

  init(stringLiteral value: String) {
    self.init(raw: value)
  }

  init(stringInterpolation: Interpolation) {
    pieces = stringInterpolation.pieces
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { pieces.append(.text(literal)) }

    /// Inserts another part.
    mutating func appendInterpolation(_ text: SQLText) { pieces += text.pieces }

    /// Inserts keywords, signs, and names that are already quoted.
    mutating func appendInterpolation(raw text: String) { pieces.append(.text(text)) }

    /// Inserts a parameter for a value.
    mutating func appendInterpolation(bind value: PostgresValue) {
      pieces.append(.value(Parameter(value)))
    }
  }

  /// Joins parts.
  static func joined(_ parts: [SQLText], by separator: String) -> SQLText {
    var joined: SQLText = ""
    for (index, part) in parts.enumerated() {
      if index > 0 { joined.pieces.append(.text(separator)) }
      joined.pieces += part.pieces
    }
    return joined
  }

  /// The statement, and its parameters in order.
  var statement: (sql: String, parameters: [PostgresValue]) {
    var sql = ""
    var parameters: [PostgresValue] = []
    var numbers: [ObjectIdentifier: Int] = [:]
    for piece in pieces {
      switch piece {
      case .text(let text): sql += text
      case .value(let parameter):
        if numbers[ObjectIdentifier(parameter)] == nil {
          parameters.append(parameter.value)
          numbers[ObjectIdentifier(parameter)] = parameters.count
        }
        sql += "$\(numbers[ObjectIdentifier(parameter)] ?? 0)"
      }
    }
    return (sql, parameters)
  }
}

/// The reason why a predicate, a sort descriptor, or a column can't be translated to SQL.
struct TranslationError: Error, CustomStringConvertible {
  /// The part that has no SQL, in predicate format.
  let piece: String
  let reason: String

  init(_ piece: String, _ reason: String) {
    self.piece = piece
    self.reason = reason
  }

  var description: String { "\(piece): \(reason)" }
}
