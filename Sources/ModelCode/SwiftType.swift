import ManagedModel

/// The Swift type of a property.
enum SwiftType {
  /// A number or Boolean that can't be `nil`.
  case scalar(String)
  /// A value that can be `nil`.
  case optional(String)
  /// The destination of a to-one relationship.
  case toOne(String)
  /// The objects of a to-many relationship, by class.
  case toMany(String, isOrdered: Bool)
  /// A type that only the app defines: that of a transformable or composite attribute.
  case any(String)

  /// Creates the type of an attribute, like Xcode, with Swift types instead of `NSNumber`.
  init(_ attribute: NSAttributeDescription) {
    func number(_ name: String) -> SwiftType {
      attribute.usesScalarValueType ? .scalar(name) : .optional(name)
    }
    switch attribute.attributeType {
    case .integer16AttributeType: self = number("Int16")
    case .integer32AttributeType: self = number("Int32")
    case .integer64AttributeType: self = number("Int64")
    case .doubleAttributeType: self = number("Double")
    case .floatAttributeType: self = number("Float")
    case .booleanAttributeType: self = number("Bool")
    case .decimalAttributeType: self = .optional("Decimal")
    case .stringAttributeType: self = .optional("String")
    case .dateAttributeType: self = .optional("Date")
    case .binaryDataAttributeType: self = .optional("Data")
    case .UUIDAttributeType: self = .optional("UUID")
    case .URIAttributeType: self = .optional("URL")
    case .compositeAttributeType: self = .any("[String: Any]")
    case .objectIDAttributeType: self = .any("NSManagedObjectID")
    case .transformableAttributeType, .undefinedAttributeType:
      let noted = attribute.userInfo?["attributeValueClassName"] as? String
      let type = (noted ?? attribute.explicitValueClassName).flatMap(TypeText.type)
      self = .any(type ?? "Any")
    }
  }

  /// Creates the type of a relationship.
  init(_ relationship: NSRelationshipDescription, destination: String) {
    self =
      relationship.isToMany
      ? .toMany(destination, isOrdered: relationship.isOrdered) : .toOne(destination)
  }

  /// The type as written in a declaration.
  var text: String {
    switch self {
    case .scalar(let name): name
    case .optional(let name), .toOne(let name), .any(let name): name + "?"
    case .toMany(let name, let isOrdered): isOrdered ? "[\(name)]" : "Set<\(name)>"
    }
  }
}

/// Checks whether a string in a model is a Swift type, such as `Color` or `[String: Any]`.
struct TypeText {
  private var rest: Substring

  /// Returns the type without surrounding spaces and `*` and without a trailing `?`, or `nil` if
  /// it's not a type, or `id`, which is any object in Objective-C.
  static func type(_ text: String) -> String? {
    var word = Substring(text)
    while let first = word.first, first == " " || first == "*" { word.removeFirst() }
    while let last = word.last, last == " " || last == "*" || last == "?" { word.removeLast() }
    guard word != "id" else { return nil }
    var reader = TypeText(rest: word)
    return reader.readType() && reader.rest.isEmpty ? String(word) : nil
  }

  private mutating func readType() -> Bool {
    guard readPlainType() else { return false }
    while take("?") {}
    return true
  }

  private mutating func readPlainType() -> Bool {
    if take("[") {
      guard readType() else { return false }
      if take(":") {
        guard readType() else { return false }
      }
      return take("]")
    }
    repeat {
      let name = rest.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
      guard !name.isEmpty, SwiftNames.isIdentifier(String(name)),
        name == "Any" || !SwiftNames.keywords.contains(String(name))
      else { return false }
      rest = rest.dropFirst(name.count)
    } while take(".")
    guard take("<") else { return true }
    repeat {
      guard readType() else { return false }
    } while take(",")
    return take(">")
  }

  private mutating func take(_ character: Character) -> Bool {
    let after = rest.drop { $0 == " " }
    guard after.first == character else { return false }
    rest = after.dropFirst().drop { $0 == " " }
    return true
  }
}
