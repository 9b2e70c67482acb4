import ManagedModel

/// Conversion of names and strings to valid Swift.
package enum SwiftNames {
  /// Returns a valid Swift identifier.
  ///
  /// Invalid characters are replaced with underscores.
  static func identifier(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      result.unicodeScalars.append(isPart(scalar) ? scalar : "_")
    }
    if let first = result.unicodeScalars.first, ("0"..."9").contains(first) || result == "_" {
      result = "_" + result
    }
    return result.isEmpty ? "_" : result
  }

  /// Returns whether a string is a valid identifier.
  static func isIdentifier(_ text: String) -> Bool {
    identifier(text) == text
  }

  /// Returns an identifier, in backticks if it's a Swift keyword.
  static func quoted(_ identifier: String) -> String {
    keywords.contains(identifier) ? "`\(identifier)`" : identifier
  }

  /// Returns a string literal, including its quotation marks.
  package static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where PrintableText.isUnsafe(scalar):
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Returns a name with its first letter in uppercase, as in `addToMoods`.
  static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// Returns a name, followed by a number from 2 on if it's taken.
  static func free(_ name: String, _ isTaken: (String) -> Bool) -> String {
    var (result, number) = (name, 2)
    while isTaken(result) {
      result = "\(name)\(number)"
      number += 1
    }
    return result
  }

  /// Returns the name of the lazily read counterpart of a to-many relationship.
  static func lazy(_ name: String) -> String { "lazy" + capitalized(name) }

  /// Returns the comment that suppresses the linter's warning about a name from the model.
  static func lintException(for name: String) -> String? {
    var rules: [String] = []
    let isPlain = name.unicodeScalars.allSatisfy(\.isASCII)
    let first = name.unicodeScalars.first ?? "_"
    if !isPlain { rules.append("IdentifiersMustBeASCII") }
    if name.dropFirst().contains("_") || first.properties.isUppercase {
      rules.append("AlwaysUseLowerCamelCase")
    }
    if first == "_" { rules.append("NoLeadingUnderscores") }
    return rules.isEmpty ? nil : "// swift-format-ignore: \(rules.joined(separator: ", "))"
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || (scalar.isASCII && scalar.properties.isAlphabetic)
      || ("0"..."9").contains(scalar)
      || (!scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.isXIDContinue))
  }

  /// Members of every managed object and generated class, which can't be used as property names.
  static let taken: Set<String> = [
    "Slots", "awakeFromFetch", "awakeFromInsert", "changedValues", "classForCoder",
    "classForKeyedArchiver", "copy", "debugDescription", "description", "didSave",
    "didTurnIntoFault", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues",
    "hash", "hashValue", "init", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "managedValue", "mutableCopy", "objectID", "prepareForDeletion", "self",
    "superclass", "validateForDelete", "validateForInsert", "validateForUpdate", "willSave",
    "willTurnIntoFault",
  ]

  /// Types that generated code uses, which can't be used as class names.
  static let types: Set<String> = [
    "Any", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Identifiable", "IndexSet", "Int",
    "Int16", "Int32", "Int64", "NSFetchRequest", "NSManagedObject", "NSManagedObjectID",
    "NSManagedObjectModel", "PropertySlot", "RelatedObjects", "Set", "SlotDeclaration", "Slots",
    "String", "URL", "UUID",
  ]

  /// Swift keywords, which can be used as names only in backticks.
  package static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "async", "await", "break",
    "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "open", "operator", "precedencegroup",
    "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
    "while",
  ]
}
