import SQLiteDriver

/// A piece of SQL and the values of its `?`s, in order.
///
/// Written as a string literal: `"\(left) = \(bind: value)"`. Fragments bring their values along,
/// so that text and values cannot come apart.
struct SQLFragment: Sendable {
  var sql: String
  var binds: [SQLBind]

  init(sql: String, binds: [SQLBind] = []) {
    self.sql = sql
    self.binds = binds
  }

  static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    SQLFragment(sql: left.sql + right.sql, binds: left.binds + right.binds)
  }

  static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      sql: fragments.map(\.sql).joined(separator: separator), binds: fragments.flatMap(\.binds))
  }
}

extension SQLFragment: ExpressibleByStringInterpolation {
  init(stringLiteral value: String) {
    self.init(sql: value)
  }

  init(stringInterpolation: Interpolation) {
    self = stringInterpolation.fragment
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var fragment = SQLFragment(sql: "")

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) {
      fragment.sql += literal
    }

    mutating func appendInterpolation(_ other: SQLFragment) {
      fragment = fragment + other
    }

    /// A `?` with its value.
    mutating func appendInterpolation(bind value: SQLiteValue) {
      appendInterpolation(bind: .value(value))
    }

    /// A `?` with the value it takes, or where that is taken from.
    mutating func appendInterpolation(bind value: SQLBind) {
      fragment.sql += "?"
      fragment.binds.append(value)
    }

    /// Text that is SQL already: an operator, a number, a column with its alias.
    mutating func appendInterpolation(raw text: some CustomStringConvertible) {
      fragment.sql += text.description
    }
  }
}
