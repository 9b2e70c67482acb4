@testable import ManagedModel
@testable import OpenCoreData

/// Generates `Documentation/predicates.md`: each format, how it's printed, and whether the SQLite
/// store supports it.
struct PredicatePage {
  static let path = "Documentation/predicates.md"

  private let translator: SQLTranslator
  private let person: SQLEntity

  /// Formats with the same meaning.
  struct Row {
    let meaning: String
    let spellings: [String]

    init(_ meaning: String, _ spellings: String...) {
      self.meaning = meaning
      self.spellings = spellings
    }
  }

  init() throws {
    let model = SQLModel(model: Self.model())
    translator = SQLTranslator(model: model)
    guard let person = model.entity(named: "Person") else { throw Missing() }
    self.person = person
  }

  struct Missing: Error {}

  /// People with a home town and friends.
  private static func model() -> NSManagedObjectModel {
    let types: [(String, NSAttributeType)] = [
      ("name", .stringAttributeType), ("age", .integer64AttributeType),
      ("height", .doubleAttributeType), ("born", .dateAttributeType),
      ("hidden", .booleanAttributeType), ("key", .UUIDAttributeType),
      ("photo", .binaryDataAttributeType), ("site", .URIAttributeType),
      ("price", .decimalAttributeType), ("in", .integer16AttributeType),
    ]
    let person = SchemaModels.entity(
      "Person", types.map { SchemaModels.attribute($0.0, $0.1) })
    let town = SchemaModels.entity("Town", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(town, "people", many: true, person, "town", many: false)
    SchemaModels.relate(person, "friends", many: true, person, "friendOf", many: true)
    let model = NSManagedObjectModel()
    model.entities = [person, town]
    return model
  }

  /// The page.
  func text() throws -> String {
    var lines = [
      "# Predicates", "",
      "<!-- Written from Tests/OpenCoreDataTests/Predicates. Do not edit:",
      "     CDPROF_UPDATE_DOCS=1 swift test --filter PredicatePageTests -->", "",
      "The formats that `NSPredicate(format:)` and `cdprof predicate` parse, and how the predicate is",
      "printed. A printed format parses to an equal predicate. Keywords are case-insensitive. *Store*",
      "states whether a SQLite store supports it; other formats throw an error with the reason. In",
      "memory (`evaluate(with:)` and in-memory stores), all are supported. The entity is a `Person` with",
      "a `town` and `friends`. `cdprof predicate FORMAT --model M --entity E --sql` prints the SQL.",
    ]
    for section in Self.sections {
      lines += ["", "## \(section.title)", ""]
      if !section.words.isEmpty { lines += [section.words, ""] }
      lines += ["| meaning | format | printed | store |", "| --- | --- | --- | --- |"]
      for row in section.rows {
        let predicate = try NSPredicate.parse(row.spellings[0])
        let written = row.spellings.map(Self.code).joined(separator: ", ")
        lines.append(
          "| \(row.meaning) | \(written) | \(Self.code(predicate.predicateFormat)) "
            + "| \(isTranslatable(predicate) ? "yes" : "no") |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whether a predicate can be translated to SQL; true if it contains placeholders.
  private func isTranslatable(_ predicate: NSPredicate) -> Bool {
    guard !predicate.predicateFormat.contains("%") else { return true }
    let bound = predicate.withSubstitutionVariables(["x": 3])
    return (try? translator.fetch(entity: person, predicate: bound, result: .identifiers)) != nil
  }

  private static func code(_ text: String) -> String {
    let escaped = text.replacingOccurrences(of: "|", with: "\\|")
    return text.contains("`") ? "`` \(escaped) ``" : "`\(escaped)`"
  }
}
