/// Reads the attributes of one element and reports invalid ones.
struct ElementReader {
  /// The element.
  let element: DocumentElement
  /// The name of the entity for errors.
  let entity: String?
  /// The name of the property for errors.
  let property: String?
  /// The list that errors are added to.
  let errors: ErrorList

  /// Reports an error at the value of an attribute, or at the tag.
  func report(_ message: String, _ nextStep: String?, at attribute: String? = nil) {
    errors.add(
      ModelError(message, nextStep: nextStep, entity: entity, property: property), at: element,
      attribute: attribute)
  }

  /// Adds a warning about an attribute's value, or about the tag.
  ///
  /// The value is written back unchanged.
  func warn(_ message: String, _ nextStep: String?, at attribute: String? = nil) {
    if let attribute { element.unread[attribute] = element.attributes[attribute] }
    errors.add(
      ModelError(
        message, nextStep: nextStep, entity: entity, property: property, isWarning: true),
      at: element, attribute: attribute)
  }

  /// Returns a "did you mean" question, or another sentence if no name is similar.
  func suggestion(
    for word: String, among names: some Collection<String>, otherwise: String
  ) -> String {
    let compared = errors.mayCompare(names.count) ? names.sorted() : []
    return NearestName.nextStep(for: word, among: compared, otherwise: otherwise)
  }

  /// Returns the value of an attribute, or `nil` if it's missing or empty.
  func text(_ attribute: String) -> String? {
    guard let value = element.attributes[attribute], !value.isEmpty else { return nil }
    return value
  }

  /// Returns the value of a required attribute, and adds an error if it's missing.
  func required(_ attribute: String) -> String? {
    if let value = text(attribute) { return value }
    let (message, nextStep) = absence(of: attribute)
    report(message, nextStep, at: attribute)
    return nil
  }

  /// Returns the value of an expected attribute, and adds a warning if it's missing.
  func wanted(_ attribute: String) -> String? {
    if let value = text(attribute) { return value }
    let (message, nextStep) = absence(of: attribute)
    warn(message, nextStep, at: attribute)
    return nil
  }

  private func absence(of attribute: String) -> (message: String, nextStep: String) {
    (
      "The \(element.name) has no \(attribute).", "Add the attribute \(attribute)=\"…\"."
    )
  }

  /// Returns whether an attribute is `YES` or `NO`.
  ///
  /// Another value adds a warning.
  func flag(_ attribute: String, otherwise: Bool = false) -> Bool {
    guard let value = text(attribute) else { return otherwise }
    if let flag = Self.flag(value) { return flag }
    warn("\(attribute) is \"\(value)\".", "Write YES or NO.", at: attribute)
    return otherwise
  }

  /// Returns an integer that isn't negative.
  ///
  /// -1, which means no limit in some documents, is read as 0.
  func count(_ attribute: String) -> Int? {
    guard let value = text(attribute) else { return nil }
    if value == "-1" { return 0 }
    if let number = Int(value), number >= 0 { return number }
    warn("\(attribute) is \"\(value)\".", "Write an integer from 0.", at: attribute)
    return nil
  }

  /// Returns the value that a name represents.
  ///
  /// An unknown name adds a warning.
  func choice<Value>(
    _ attribute: String, _ values: [Value], name: (Value) -> String
  ) -> Value? {
    guard let text = text(attribute) else { return nil }
    if let value = values.first(where: { name($0) == text }) { return value }
    let names = values.map(name)
    let near = NearestName.of(text, among: names)
    warn(
      "\(attribute) is \"\(text)\".",
      near.map { "Did you mean \"\($0)\"?" } ?? "Write one of: \(names.joined(separator: ", ")).",
      at: attribute)
    return nil
  }

  /// Returns the Boolean value of a string in a model document.
  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true", "1": true
    case "no", "false", "0": false
    default: nil
    }
  }
}

/// Collects the errors and warnings of one document with their positions.
final class ErrorList {
  /// The document.
  let text: DocumentText
  private var errors: [(offset: Int, error: ModelError)] = []
  private var warnings: [(offset: Int, error: ModelError)] = []
  private var comparisons = 0

  /// Creates an empty list.
  init(text: DocumentText) {
    self.text = text
  }

  /// Returns whether an unknown name can be compared with a number of other names.
  ///
  /// The number of comparisons for a document is limited; only hostile documents reach the limit.
  func mayCompare(_ count: Int) -> Bool {
    comparisons += count
    return comparisons <= ModelLimits.comparisons
  }

  /// Adds an error or a warning, up to a separate limit for each.
  ///
  /// The position is that of the value of `attribute` if the element has it, or else that of the
  /// tag.
  func add(
    _ error: ModelError, at element: DocumentElement, attribute: String? = nil
  ) {
    guard (error.isWarning ? warnings : errors).count < ModelLimits.errors else { return }
    let offset =
      attribute.map { text.valueOffset(of: $0, inTagAt: element.offset) } ?? element.offset
    var error = error
    let position = text.position(of: offset)
    error.file = text.file
    error.line = position.line
    error.column = position.column
    if error.isWarning {
      warnings.append((offset, error))
    } else {
      errors.append((offset, error))
    }
  }

  /// Returns whether the list has an error about the same property, or the same error.
  func covers(_ error: ModelError) -> Bool {
    (errors + warnings).contains { $0.error.covers(error) }
  }

  /// Whether the model is unusable.
  var hasErrors: Bool { !errors.isEmpty }

  /// The errors and warnings in the order of the document.
  var sorted: [ModelError] {
    (errors + warnings).sorted { $0.offset < $1.offset }.map(\.error)
  }
}

/// The positions of entities, their members, and fetch requests in a model document.
package struct ModelPositions {
  private typealias Elements = [String: DocumentElement]

  private let text: DocumentText
  private let entities: Elements
  private let members: [String: Elements]
  private let fetchRequests: Elements

  /// Reads the positions.
  ///
  /// **Cost:** one read of the file.
  ///
  /// - Parameter url: The `contents` of a `.xcdatamodel`.
  /// - Throws: An error if the file can't be read or isn't well-formed XML.
  package init(of url: URL) throws(ModelErrors) {
    let data = try BoundedFile.read(url, limit: ModelLimits.fileSize)
    let bytes = try DocumentEncoding.utf8(data, file: url.relativePath)
    text = DocumentText(file: url.relativePath, bytes: bytes)
    let root = try DocumentParser.parse(bytes, text: text)
    entities = Self.named(root.children(named: "entity"))
    members = entities.mapValues { Self.named($0.children) }
    fetchRequests = Self.named(root.children(named: "fetchRequest"))
  }

  /// Returns elements by their names; of several with the same name, the first.
  private static func named(_ elements: [DocumentElement]) -> Elements {
    Dictionary(
      elements.compactMap { element in element.attributes["name"].map { ($0, element) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Returns the position of a member of an entity, or else that of the entity; `nil` if it isn't
  /// in the document.
  ///
  /// - Parameters:
  ///   - entity: The name of the entity.
  ///   - member: The name of a property or index.
  package func position(
    entity: String, member: String? = nil
  ) -> (file: String, line: Int, column: Int)? {
    let member = member.flatMap { members[entity]?[$0] }
    return (member ?? entities[entity]).map { position(of: $0) }
  }

  /// Returns the position of a fetch request of the model, or `nil` if it isn't in the document.
  ///
  /// - Parameter fetchRequest: The name of the fetch request.
  package func position(fetchRequest: String) -> (file: String, line: Int, column: Int)? {
    fetchRequests[fetchRequest].map { position(of: $0) }
  }

  private func position(of element: DocumentElement) -> (file: String, line: Int, column: Int) {
    let position = text.position(of: element.offset)
    return (text.file, position.line, position.column)
  }
}
