/// Nouns after a number, in every message of the package.
package enum PluralForm {
  /// The form that fits a number: `argument` for 1, `arguments` for 0 and for several.
  ///
  /// - Parameters:
  ///   - number: What decides; -1 takes the plural too.
  ///   - one: The singular.
  ///   - many: The plural; the singular with an `s` if left out.
  package static func of(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? one : many ?? "\(one)s"
  }

  /// The number and the form that fits it: `1 argument`, `5060 arguments`.
  package static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(of(number, one, many))"
  }
}
