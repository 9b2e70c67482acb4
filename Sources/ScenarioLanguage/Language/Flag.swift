/// Yes and no, as YAML 1.1 and people write them.
package enum Flag {
  /// The words for yes.
  static let affirmative = ["yes", "true", "on"]
  /// The words for no.
  static let negative = ["no", "false", "off"]

  /// True for yes, true and on, false for no, false and off, whatever their case; nil for the rest.
  package static func value(of text: String) -> Bool? {
    let word = text.lowercased()
    if affirmative.contains(word) { return true }
    return negative.contains(word) ? false : nil
  }
}
