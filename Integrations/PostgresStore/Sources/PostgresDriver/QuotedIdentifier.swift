/// An identifier of the server, in quotes.
package enum QuotedIdentifier {
  /// The number of bytes that the server keeps of an identifier.
  package static let longest = 63

  /// Returns an identifier in quotes, whose own quotes are doubled.
  ///
  /// It's a programmer error to pass one that the server would shorten, or that contains the
  /// character NUL.
  package static func of(_ name: String) -> String {
    guard !name.isEmpty && name.utf8.count <= longest && !name.utf8.contains(0) else {
      fatalError("an identifier has 1 to 63 bytes, none of them 0")
    }
    // A combining mark joins a quote into another `Character`, but the server sees the quote.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in name.unicodeScalars {
      if scalar == "\"" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("\"")
    return String(quoted)
  }
}
