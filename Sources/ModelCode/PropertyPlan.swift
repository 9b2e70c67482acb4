import ManagedModel

/// A property of a class to generate.
struct PropertyPlan {
  let property: NSPropertyDescription
  /// The name in Swift, without backticks.
  let name: String
  /// The type of the accessor.
  let type: SwiftType
  /// The index and offset of the property's slot, or `nil` if generated code doesn't read one.
  let slot: (index: Int, offset: Int)?
}

extension PropertyPlan {
  /// The name of the slot, with a replacement for `declarations`, which is taken.
  var slotName: String {
    name == "declarations" ? "declarationsValue" : name
  }

  /// Writes the property and, for a to-many relationship, its lazily read counterpart.
  func write(to source: inout SourceLines) {
    let key = SwiftNames.literal(property.name)
    switch type {
    case .scalar, .optional, .toOne:
      guard slot != nil else {
        return declare(
          get: "value(forKey: \(key)) as? \(type.wrapped)\(type.fallback)",
          set: "setValue(newValue, forKey: \(key))", to: &source)
      }
      let slot = "self[Slots.\(SwiftNames.quoted(slotName))]"
      declare(get: slot, set: "\(slot) = newValue", to: &source)
    case .any(let type):
      declare(
        get: type == "Any" ? "value(forKey: \(key))" : "value(forKey: \(key)) as? \(type)",
        set: "setValue(newValue, forKey: \(key))", to: &source)
    case .toMany(let element, let isOrdered):
      let objects = isOrdered ? "array" : "set"
      declare(
        get: "\(SwiftNames.quoted(lazyName)).\(objects)",
        set: "\(SwiftNames.quoted(lazyName)).\(objects) = newValue", to: &source)
      source.gap()
      writeException(for: lazyName, to: &source)
      source.comment("`\(property.name)`, read when something is asked of it.")
      source.block("public var \(lazyName): RelatedObjects<\(SwiftNames.quoted(element))>") {
        $0.call("RelatedObjects", ["of: self", key])
      }
    }
  }

  private func declare(get: String, set: String, to source: inout SourceLines) {
    writeException(for: name, to: &source)
    source.comment(summary, details)
    source.block("public var \(SwiftNames.quoted(name)): \(type.text)") { source in
      source.accessor("get", get)
      source.accessor("set", set)
    }
  }

  func writeException(for name: String, to source: inout SourceLines) {
    if let exception = SwiftNames.lintException(for: name) { source.line(exception) }
  }

  var lazyName: String {
    "lazy" + SwiftNames.capitalized(name)
  }

  private var summary: String {
    switch property {
    case let attribute as NSAttributeDescription:
      var words = ["`\(property.name)`", attribute.attributeType.documentName]
      if attribute.isTransient { words.append("not stored") }
      if attribute.isDerived { words.append("derived by the store") }
      return words.joined(separator: ", ") + "."
    case let relationship as NSRelationshipDescription:
      let destination = relationship.destinationEntity?.name ?? ""
      let inverse = relationship.inverseRelationship.map { ", the inverse of `\($0)`" } ?? ""
      let order = relationship.isOrdered ? "in order" : "in no order"
      return relationship.isToMany
        ? "`\(property.name)`, to many of `\(destination)` \(order)\(inverse)."
        : "`\(property.name)`, to one `\(destination)`\(inverse)."
    default: return "`\(property.name)`."
    }
  }

  private var details: String? {
    if name != property.name {
      return "Called `\(name)` because Swift or every managed object has the other name."
    }
    if case .toMany = type {
      return "Reading it costs a SELECT while it is a fault, and a copy of the collection."
    }
    return nil
  }
}

extension SwiftType {
  fileprivate var wrapped: String {
    switch self {
    case .scalar(let name), .optional(let name), .toOne(let name), .any(let name): name
    case .toMany: text
    }
  }

  /// The value that replaces `nil`.
  fileprivate var fallback: String {
    guard case .scalar(let name) = self else { return "" }
    return name == "Bool" ? " ?? false" : " ?? 0"
  }
}

extension PropertyPlan {
  /// Writes the methods that change a to-many relationship one object at a time, with Xcode's
  /// names.
  func writeMutators(
    of className: String, element: String, isOrdered: Bool, to source: inout SourceLines
  ) {
    let element = SwiftNames.quoted(element)
    let many = isOrdered ? "[\(element)]" : "Set<\(element)>"
    let word = SwiftNames.capitalized(name)
    let objects = SwiftNames.quoted(lazyName)
    var methods: [(doc: String, name: String, arguments: [String], body: String)] = [
      (
        isOrdered ? "Adds an object at the end." : "Adds an object.", "addTo\(word)",
        ["_ value: \(element)"], "insert(value)"
      ),
      ("Takes an object out.", "removeFrom\(word)", ["_ value: \(element)"], "remove(value)"),
      ("Adds objects.", "addTo\(word)", ["_ values: \(many)"], "formUnion(values)"),
      ("Takes objects out.", "removeFrom\(word)", ["_ values: \(many)"], "subtract(values)"),
    ]
    if isOrdered {
      methods += [
        (
          "Puts an object at an index.", "insertInto\(word)",
          ["_ value: \(element)", "at index: Int"], "insert(value, at: index)"
        ),
        (
          "Takes the object at an index out.", "removeFrom\(word)", ["at index: Int"],
          "remove(at: index)"
        ),
        (
          "Replaces the object at an index.", "replace\(word)",
          ["at index: Int", "with value: \(element)"], "replace(at: index, with: value)"
        ),
      ]
    }
    source.block("extension \(SwiftNames.quoted(className))") { source in
      for method in methods {
        source.gap()
        writeException(for: method.name, to: &source)
        source.comment(method.doc)
        source.block("public func \(method.name)", method.arguments, "") {
          $0.line("\(objects).\(method.body)")
        }
      }
    }
  }
}
