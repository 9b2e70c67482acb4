internal import Foundation

/// The orders of strings in comparisons with options and in sort descriptors, in memory and in SQL.
///
/// With options or a locale, Foundation's comparison isn't an order: "Noël" comes after "Nö", and
/// "Nö" after "Noël". Here, folded and decomposed strings are compared. The strings that Foundation
/// considers equal are equal, and a letter with an accent comes after the one without it.
package enum StringOrder {
  /// Returns the order of two strings for a comparison with options.
  ///
  /// **Cost:** without `[l]`, no allocation, unless a string has several marks for one letter, any
  /// mark with `[d]`, or a scalar above U+1FFFF. With `[l]`, a comparison by Foundation.
  static func compare(
    _ left: String, _ right: String, _ options: NSComparisonPredicate.Options
  ) -> ComparisonResult {
    if options.contains(.localeSensitive) { return compare(left, right, options, in: .current) }
    let forms = FoldedForms[options]
    let order = left.withBytes(and: right) { left, right in
      forms.order(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
    }
    return order ?? forms.folded(left, nil).orderOfBytes(and: forms.folded(right, nil))
  }

  /// Returns the order of two strings in UTF-8 for `caseInsensitiveCompare:`, or `nil` if strings
  /// must be created to compare them.
  package static func caseInsensitive(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> ComparisonResult? {
    FoldedForms[.caseInsensitive].order(left, right)
  }

  /// Returns the order of two strings in a locale, with numbers by value if `isNumeric` is set.
  ///
  /// **Cost:** a comparison by Foundation, which allocates memory.
  static func compare(
    _ left: String, _ right: String, _ options: NSComparisonPredicate.Options, in locale: Locale,
    isNumeric: Bool = false
  ) -> ComparisonResult {
    let forms = FoldedForms[options]
    let usesForms = !hasOwnLetters(locale)
    func prepared(_ text: String) -> String {
      let form = usesForms ? forms.form(of: text) : nil
      // Without the tab, Foundation considers a string greater than its prefix even if the rest,
      // such as a control character, has no weight in a comparison.
      return (form ?? forms.folded(text, locale)) + "\t"
    }
    return prepared(left).compare(
      prepared(right), options: isNumeric ? .numeric : [], range: nil, locale: locale)
  }

  /// Returns the order of two strings in file lists, for `localizedStandardCompare:`.
  ///
  /// Of strings that differ only in case, width, or leading zeros, the one in lowercase comes
  /// first, then the one with fewer zeros, as with Foundation's `forcedOrdering`, which isn't an
  /// order.
  static func standard(_ left: String, _ right: String, in locale: Locale) -> ComparisonResult {
    var order = compare(
      left, right, [.caseInsensitive, .widthInsensitive], in: locale, isNumeric: true)
    if order == .orderedSame { order = compare(left, right, [], in: locale, isNumeric: true) }
    if order != .orderedSame { return order }
    func zeros(_ text: String) -> Int { text.utf8.count { $0 == UInt8(ascii: "0") } }
    let (first, second) = (zeros(left), zeros(right))
    if first != second { return first < second ? .orderedAscending : .orderedDescending }
    return left.orderOfBytes(and: right)
  }

  /// Returns whether a language has lowercase letters of its own, such as the Turkish ı.
  private static func hasOwnLetters(_ locale: Locale) -> Bool {
    let identifier = locale.identifier
    return ["tr", "az", "lt"].contains { identifier.hasPrefix($0) }
  }
}
