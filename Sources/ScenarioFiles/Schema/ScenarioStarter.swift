package import Foundation
package import OpenCoreData
import ScenarioLanguage
package import WorkbenchText

/// A starter for a new scenario: a short, commented file that can be run.
package struct ScenarioStarter: Sendable {
  /// A file of the starter.
  package struct File: Sendable {
    /// The path relative to the folder that the starter is written to.
    package var path: String
    package var text: String
  }

  /// The scenario file, the schema, and, unless a store contains the model, the model.
  package let files: [File]

  /// Creates a starter that generates data for a small model.
  ///
  /// - Parameters:
  ///   - name: The name of the scenario.
  ///   - file: The name of its file; `nil` for the name of the scenario with `.yml`.
  package init(name: String, file: String? = nil) {
    let file = file ?? "\(name).yml"
    files = [
      File(path: file, text: ScenarioStarter.text(name: name, file: file)),
      File(path: "Models/Library.xcdatamodel/contents", text: ScenarioStarter.library),
      ScenarioStarter.schema,
    ]
  }

  /// Creates a starter that uses a copy of a store that contains its model.
  ///
  /// - Parameters:
  ///   - name: The name of the scenario.
  ///   - file: The name of its file; `nil` for the name of the scenario with `.yml`.
  ///   - store: The store to copy.
  ///   - model: The store's model.
  ///   - counts: The row count of each entity, without subentities.
  ///   - folder: The folder of the scenario file, which the store's path is relative to.
  /// - Throws: `InvalidInputError` if no entity has objects.
  package init(
    name: String, file: String? = nil, store: URL, model: NSManagedObjectModel,
    counts: [EntityCount], folder: URL
  ) throws {
    guard let most = counts.filter({ $0.count > 0 }).max(by: { $0.count < $1.count }),
      let entity = model.entitiesByName[most.name]
    else {
      throw InvalidInputError(
        kind: .unusable, message: "\(store.lastPathComponent) has no entity with objects",
        nextStep: "use another store, or remove --store")
    }
    let attributes = entity.attributesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
    let path = ScenarioDraft.path(of: store, from: folder)
    let file = file ?? "\(name).yml"
    files = [
      File(
        path: file,
        text: ScenarioStarter.text(
          name: name, file: file, store: path, entity: entity.name ?? most.name,
          attribute: attributes.first)),
      ScenarioStarter.schema,
    ]
  }

  /// The schema that the first line of the starter refers to, for editors.
  private static var schema: File {
    File(path: ScenarioSchema.fileName, text: ScenarioSchema.document)
  }

  /// Writes the files.
  ///
  /// An existing model or schema isn't replaced.
  ///
  /// - Parameters:
  ///   - folder: The folder to write to.
  ///   - force: Whether an existing scenario file is replaced.
  /// - Returns: The paths of the written files.
  /// - Throws: `CommandFailure` if the scenario file exists, before anything is written;
  ///   `InvalidInputError` if the path is a folder or a device; otherwise, the file system's
  ///   `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    var written: [String] = []
    for (index, file) in files.enumerated() {
      let url = folder.appendingPathComponent(file.path)
      let exists = FileKind.mode(of: url.path, followingLinks: false) != nil
      if exists, index > 0 { continue }
      guard !exists || force else {
        throw CommandFailure(
          PrintableText.line("the file \(url.relativePath) already exists"),
          nextStep: "choose another name, or replace the file with --force")
      }
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try OutputFile.write(Data(file.text.utf8), to: url, force: force)
      written.append(url.relativePath)
    }
    return written
  }
}

extension ScenarioStarter {
  /// Returns the first lines of a scenario.
  private static func header(_ name: String, _ file: String) -> String {
    """
    # yaml-language-server: $schema=\(ScenarioSchema.fileName)
    # Run:         cdprof run \(CommandWord.quoted(file)) --report html
    # Explore:     cdprof shell \(CommandWord.quoted(file))
    # Reference:   Documentation/scenario-format.md
    name: \(YAMLText.scalar(name))
    source: ours                  # where the expected numbers come from: book, derived, apple, ours
    """
  }

  /// Returns the scenario that generates its data.
  static func text(name: String, file: String) -> String {
    """
    \(header(name, file))
    story: |
      A list shows the titles of books and the names of their authors. Guess first: how many SELECTs, and
      how many faults?
    model: Library                # Models/Library.xcdatamodel next to this file
    data:                         # generated once, then copied for each variant; reproducible by its seed
      seed: 1
      Author: {count: 10, name: text 8}
      Book: {count: 100 * scale, title: text 12, author: cycle}
    steps:                        # shared by all variants; each step also works as a line in `cdprof shell`
      - {fetch: Book, sort: title, as: books}
      - {touch: books, read: [title, author.name]}
    variants:                     # each lists only its differences and the expected counts
      - name: plain
        why: The fetch loads the books. Each author is a fault with its own SELECT.
        expect: {selects: 1 + Author, misses: Author, findings: [fault-storm(Book.author)]}
      - name: prefetched
        why: One more SELECT loads all authors.
        set: {books.prefetch: [author]}
        expect: {selects: 2, misses: 0, hits: Book + Author}

    """
  }

  /// Returns the scenario that uses a copy of a store.
  ///
  /// - Parameter attribute: The attribute to read from each object, or `nil` if the entity has
  ///   none.
  static func text(
    name: String, file: String, store: String, entity: String, attribute: String?
  ) -> String {
    let touch = attribute.map { "\n  - {touch: objects, read: [\($0)]}" } ?? ""
    return """
      \(header(name, file))
      story: Describe the work here, and what to guess before reading on.
      data:
        store: \(YAMLText.scalar(store))   # each variant works on a copy; the model is read from the store
      steps:                        # shared by all variants; each step also works as a line in `cdprof shell`
        - {fetch: \(entity), as: objects}\(touch)
      variants:                     # each lists only its differences and the expected counts
        - name: plain
          why: One fetch loads the rows, and the objects are fulfilled from the row cache.
          expect: {fetches: 1, selects: 1, rows: \(entity), misses: 0}
        - name: in batches
          why: One SELECT for the object IDs, then batches of 20 objects.
          set: {objects.batch: 20, objects.faults: no}
          expect: {fetches: 1, misses: 0, peak: at most 100}

      """
  }

  /// The model for the generated data.
  static let library = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \
    lastSavedToolsVersion="22522" systemVersion="23A344" minimumToolsVersion="Automatic" \
    sourceLanguage="Swift" userDefinedModelVersionIdentifier="Library">
        <entity name="Author" syncable="YES">
            <attribute name="name" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" \
    destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <entity name="Book" syncable="YES">
            <attribute name="title" attributeType="String"/>
            <relationship name="author" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
        </entity>
    </model>

    """
}
