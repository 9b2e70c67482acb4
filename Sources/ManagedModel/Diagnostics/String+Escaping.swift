extension String {
  /// Returns the string with some of its scalars replaced, such as the quotation marks of a name in
  /// SQL.
  ///
  /// The methods of Foundation and Swift replace characters, and don't find a quotation mark that a
  /// combining mark follows.
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
