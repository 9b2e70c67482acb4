/// Chooses the singular or plural form of nouns in messages.
package enum PluralForm {
  /// Returns the singular or plural form for a number: `argument` for 1, `arguments` for 0 and 2.
  ///
  /// - Parameters:
  ///   - number: The number; -1 takes the plural.
  ///   - one: The singular.
  ///   - many: The plural; by default the singular with an `s`.
  package static func of(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? one : many ?? "\(one)s"
  }

  /// Returns a number with its noun in the singular or plural: `1 argument`, `5060 arguments`.
  package static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(of(number, one, many))"
  }
}
