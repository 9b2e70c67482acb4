extension FetchRequestTemplate {
  /// The template as a dictionary of property list values.
  ///
  /// Default values are omitted, and so is the order from the first comparator on: it has no name
  /// from which a reader could create it.
  var archived: [AnyHashable: Any] {
    var values: [AnyHashable: Any] = ["name": name, "entity": entityName]
    if let predicateFormat { values["predicate"] = predicateFormat }
    let named = sortDescriptors.prefix { $0.comparison != nil }
    if !named.isEmpty {
      values["sort"] = named.map { descriptor in
        [descriptor.key ?? "", descriptor.ascending, descriptor.comparison?.rawValue ?? ""]
          as [Any]
      }
    }
    for (key, number) in [("limit", fetchLimit), ("batch", fetchBatchSize)] where number != 0 {
      values[key] = number
    }
    if resultType != 0 { values["result"] = Int(clamping: resultType) }
    for (key, path) in Self.flags where self[keyPath: path] != Self.plain[keyPath: path] {
      values[key] = self[keyPath: path]
    }
    for (name, value) in original?.archived ?? [:] { values[name] = value }
    return values
  }

  /// Creates a template from the value of `archived`, or returns `nil` if it has no name or entity.
  init?(archived values: [AnyHashable: Any]) {
    guard let name = values["name"] as? String, let entity = values["entity"] as? String else {
      return nil
    }
    self.init(name: name, entityName: entity, predicateFormat: values["predicate"] as? String)
    for case let parts as [Any] in values["sort"] as? [Any] ?? [] {
      guard parts.count == 3, let key = parts[0] as? String, let ascending = parts[1] as? Bool,
        let comparison = parts[2] as? String
      else { continue }
      sortDescriptors.append(
        NSSortDescriptor(
          key: key, ascending: ascending, selector: .init(rawValue: comparison)))
    }
    fetchLimit = Self.count(values["limit"])
    fetchBatchSize = Self.count(values["batch"])
    resultType = UInt(Self.count(values["result"]))
    for (key, path) in Self.flags {
      if let flag = values[key] as? Bool { self[keyPath: path] = flag }
    }
    var others: [String: Any] = [:]
    for name in OriginalRequest.archivedNames { others[name] = values[name] }
    if !others.isEmpty { original = OriginalRequest(archived: others) }
  }

  private static func count(_ value: Any?) -> Int {
    max(0, (value as? Int64).flatMap { Int(exactly: $0) } ?? 0)
  }

  private static let plain = FetchRequestTemplate(name: "", entityName: "", predicateFormat: nil)

  private static var flags: [(String, WritableKeyPath<FetchRequestTemplate, Bool>)] {
    [
      ("subentities", \.includesSubentities), ("values", \.includesPropertyValues),
      ("pending", \.includesPendingChanges), ("faults", \.returnsObjectsAsFaults),
      ("distinct", \.returnsDistinctResults),
    ]
  }
}

/// The formula of a derived attribute, read from an archived expression as text.
struct ArchivedExpression {
  private let archive: KeyedArchive
  /// The number of bytes of all texts so far.
  private var size = 0

  /// The formula, or an empty string if the archive has it in an unknown form.
  private(set) var text = ""

  /// Reads an archived expression, or the first one among the values of an archived attribute.
  init(in object: KeyedArchive.Object, _ archive: KeyedArchive) {
    self.archive = archive
    if object.className.hasSuffix("Expression") {
      text = self.text(of: object, depth: 0) ?? ""
      return
    }
    for key in object.fields.keys.sorted() {
      guard let expression = archive.object(object.fields[key]),
        expression.className.hasSuffix("Expression"), let found = text(of: expression, depth: 0)
      else { continue }
      text = found
      return
    }
  }

  /// Returns the text of an expression, or `nil` for the object itself and for unknown forms.
  ///
  /// Returns `nil` as well once the formula is too long: an archive can repeat its parts.
  private mutating func text(of object: KeyedArchive.Object, depth: Int) -> String? {
    guard depth < ModelLimits.formulaDepth, size <= ModelLimits.formats else { return nil }
    let fields = object.fields
    if let path = archive.string(fields["NSKeyPath"]) { return counted([path]) }
    if let variable = archive.string(fields["NSVariable"]) { return counted(["$", variable]) }
    if let selector = archive.string(fields["NSSelectorName"]) {
      let operand = archive.object(fields["NSOperand"]).flatMap { text(of: $0, depth: depth + 1) }
      let arguments = archive.list(fields["NSArguments"]).compactMap { argument in
        archive.object(argument).flatMap { text(of: $0, depth: depth + 1) }
      }
      if selector.hasPrefix("valueForKey") {
        return counted([operand].compactMap { $0 } + arguments, separator: ".")
      }
      return counted(arguments, separator: ", ").flatMap { counted([selector, "(", $0, ")"]) }
    }
    guard let constant = archive.anyValue(fields["NSConstantValue"]),
      !(constant is [Any]), !(constant is [AnyHashable: Any])
    else { return nil }
    return counted(["\(constant)"])
  }

  /// Returns texts as one, or `nil` if all texts of the formula are too long.
  private mutating func counted(_ texts: [String], separator: String = "") -> String? {
    size += texts.reduce(0) { $0 + $1.utf8.count + separator.utf8.count }
    return size <= ModelLimits.formats ? texts.joined(separator: separator) : nil
  }
}
