import ManagedModel

/// Formats words of a command line.
package enum CommandWord {
  /// Returns a word for `sh`, in single quotes if it needs them.
  package static func quoted(_ word: String) -> String {
    let isSafe =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "_-./:,+@%=".unicodeScalars.contains(scalar)
      }
    return isSafe ? word : "'" + word.replacingScalars(["'": "'\\''"]) + "'"
  }
}
