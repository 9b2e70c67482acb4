extension String {
  /// Returns the string with some of its scalars replaced, as the quotation marks of a name in SQL.
  ///
  /// Foundation and Swift replace characters, and a mark is part of another one if a combining mark
  /// follows it.
  package func replacingScalars(_ replacements: [Unicode.Scalar: String]) -> String {
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if let replacement = replacements[scalar] {
        result.append(contentsOf: replacement.unicodeScalars)
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}
