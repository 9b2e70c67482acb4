/// Words of a command line that a person can copy into a shell.
package enum CommandWord {
  /// A word as `sh` reads it back: in single quotes only if it has to be.
  package static func quoted(_ word: String) -> String {
    let isSafe =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "_-./:,+@%=".unicodeScalars.contains(scalar)
      }
    return isSafe
      ? word
      : "'"
        + word.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''") + "'"
  }
}
