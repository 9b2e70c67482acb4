import ArgumentParser
import Foundation
import OpenCoreData
import ScenarioFiles
import ScenarioLanguage
import StoreTools
import WorkbenchText

/// What the shell offers for an argument: files with the usual extensions, or names that the files
/// on the command line contain.
extension CompletionKind {
  /// Stores, by their usual extensions.
  ///
  /// A store of another name is accepted, but isn't offered.
  static let stores = CompletionKind.file(extensions: Extensions.stores)

  /// Models, and stores, which contain theirs.
  static let models = CompletionKind.file(extensions: Extensions.models + Extensions.stores)

  static let scenarios = CompletionKind.file(extensions: Extensions.scenarios)

  static let scenariosAndStores = CompletionKind.file(
    extensions: Extensions.scenarios + Extensions.stores)

  static let mappings = CompletionKind.file(extensions: ["xcmappingmodel", "cdm"])

  static let json = CompletionKind.file(extensions: ["json"])

  /// The entities of the store or model on the command line.
  static let entities = custom { line, _, _ in
    CommandLineWords(line).firstFile { path in
      try FoundModel(path: path).model.entities.compactMap(\.name).sorted()
    }
  }

  /// The versions of the model on the command line; a store, which has only one, may precede it.
  static let versions = custom { line, _, _ in
    CommandLineWords(line).firstFile { path in
      let url = URL(fileURLWithPath: path)
      return try ModelFile.isStore(url) ? [] : NSManagedObjectModel.versions(of: url)
    }
  }

  /// The variants of the scenario on the command line.
  static let variants = custom { line, _, _ in
    CommandLineWords(line).firstFile { path in
      try ScenarioReader.read(URL(fileURLWithPath: path), path: path).variants.map(\.name)
    }
  }

  /// Completes the last word of a comma-separated list, and doesn't offer words already in it.
  ///
  /// The shell runs the program to get the completions.
  static func words(_ words: [String]) -> CompletionKind {
    .custom { _, _, typed in
      let before = typed.lastIndex(of: ",").map { typed[...$0] } ?? ""
      let taken = before.split(separator: ",").map(String.init)
      return OfferedNames.literal(words.filter { !taken.contains($0) }.map { before + $0 })
    }
  }

  private enum Extensions {
    static let stores = ["sqlite", "sqlite3", "db", "store", "storedata", "xml", "binary"]
    static let models = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]
    static let scenarios = ["yml", "yaml"]
  }
}

/// The names that a shell can offer.
private enum OfferedNames {
  /// The characters that no shell interprets in a word, besides letters and digits.
  private static let plain = " _-./:,+@%=".unicodeScalars

  /// Returns the names that the shell takes literally.
  ///
  /// Bash expands the words that it gets from the program, so `$(…)` in a name of a file from
  /// anyone would run a command. Other shells don't, and quote the name that's chosen.
  static func literal(_ names: [String]) -> [String] {
    let shell = CompletionShell.requesting
    let expands = shell != .zsh && shell != .fish
    return names.filter { name in
      !name.isEmpty
        && name.unicodeScalars.allSatisfy { scalar in
          guard scalar.isASCII, expands else {
            return scalar.value >= 0x20 && !PrintableText.isUnsafe(scalar)
          }
          return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || plain.contains(scalar)
        }
    }
  }
}

/// The words of an unfinished command line, as the shell passes them for a completion.
private struct CommandLineWords {
  private let words: [String]

  init(_ words: [String]) {
    self.words = words
  }

  /// Returns the names that a closure finds in the first file it can read; none without a file.
  ///
  /// Errors are ignored, because a completion can't print them.
  func firstFile(_ read: (String) throws -> [String]) -> [String] {
    for word in words.dropFirst(2) {
      let path = CommandLineWords.path(word)
      guard !path.isEmpty, FileManager.default.fileExists(atPath: path) else { continue }
      if let found = try? read(path), !found.isEmpty { return OfferedNames.literal(found) }
    }
    return []
  }

  /// Returns the path that a word stands for: the shell passes it as it was typed, with a tilde,
  /// quotation marks, and backslashes.
  private static func path(_ word: String) -> String {
    var path = ""
    var quote: Character?
    var isEscaped = false
    for character in word {
      if isEscaped || (quote == "'" && character != "'") {
        path.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
      } else {
        path.append(character)
      }
    }
    return word.hasPrefix("~/") ? NSHomeDirectory() + path.dropFirst() : path
  }
}
