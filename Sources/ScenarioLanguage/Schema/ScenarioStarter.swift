package import Foundation
package import OpenCoreData
package import WorkbenchText

/// A new scenario to start from: short, commented, and ready to run.
package struct ScenarioStarter: Sendable {
  /// A file that goes with the starter.
  package struct File: Sendable {
    /// From the folder the starter is written to.
    package var path: String
    package var text: String
  }

  /// The scenario file and, where no store brings one, the model next to it.
  package let files: [File]

  /// A starter on data that is made, for a small model of its own.
  ///
  /// - Parameter name: of the scenario and its file.
  package init(name: String) {
    files = [
      File(path: "\(name).yml", text: ScenarioStarter.text(name: name)),
      File(path: "Models/Library.xcdatamodel/contents", text: ScenarioStarter.library),
      ScenarioStarter.schema,
    ]
  }

  /// A starter on a copy of a store that carries its model.
  ///
  /// - Parameters:
  ///   - model: The store's own.
  ///   - counts: Rows of each entity itself.
  ///   - folder: the file's folder, from which the store's path is written.
  /// - Throws: `InvalidInputError` when no entity has objects.
  package init(
    name: String, store: URL, model: NSManagedObjectModel, counts: [EntityCount], folder: URL
  ) throws {
    guard let most = counts.max(by: { $0.count < $1.count }),
      let entity = model.entitiesByName[most.name]
    else {
      throw InvalidInputError(
        kind: .unusable, message: "\(store.lastPathComponent) has no entity with objects",
        nextStep: "name another store, or leave --store out")
    }
    let attributes = entity.attributesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
    let path = ScenarioDraft.path(of: store, from: folder)
    files = [
      File(
        path: "\(name).yml",
        text: ScenarioStarter.text(
          name: name, store: path, entity: entity.name ?? most.name, attribute: attributes.first)),
      ScenarioStarter.schema,
    ]
  }

  /// What the first line of a starter names, for editors.
  private static var schema: File {
    File(path: ScenarioSchema.fileName, text: ScenarioSchema.document)
  }

  /// Writes the files; a model or schema that is there already is used as it is.
  ///
  /// - Parameter force: whether the scenario's file is replaced if it exists.
  /// - Returns: The paths of what was written.
  /// - Throws: `CommandFailure` when the scenario's file is there already, and nothing is written then;
  ///   `InvalidInputError` for a folder or device in its place; the file system's `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    var written: [String] = []
    for (index, file) in files.enumerated() {
      let url = folder.appendingPathComponent(file.path)
      let exists = FileKind.mode(of: url.path, followingLinks: false) != nil
      if exists, index > 0 { continue }
      guard !exists || force else {
        throw CommandFailure(
          PrintableText.line("there is a file \(url.relativePath) already"),
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
  /// The scenario on made data.
  static func text(name: String) -> String {
    """
    # yaml-language-server: $schema=\(ScenarioSchema.fileName)
    # Run it:      cdprof run \(name).yml --report html
    # Type it:     cdprof shell \(name).yml
    # All words:   Documentation/scenario-format.md
    name: \(YAMLText.scalar(name))
    source: ours                  # where the numbers come from: book, derived, apple, ours
    story: |
      A list shows the titles of books and the names of their authors. Guess first: how many SELECTs, how
      many faults?
    model: Library                # Models/Library.xcdatamodel beside this file
    data:                         # made again for each variant, the same for the same seed
      seed: 1
      Author: {count: 10, name: text 8}
      Book: {count: 100 * scale, title: text 12, author: cycle}
    steps:                        # what all variants share; a step is a line of `cdprof shell` as well
      - {fetch: Book, sort: title, as: books}
      - {touch: books, read: [title, author.name]}
    variants:                     # each says only its difference, and what it must cost
      - name: plain
        why: The books came with the fetch; each author is a trip to the database of its own.
        expect: {selects: 1 + Author, misses: Author, findings: [fault-storm(Book.author)]}
      - name: prefetched
        why: One SELECT more brings all authors.
        set: {books.prefetch: [author]}
        expect: {selects: 2, misses: 0, hits: Book + Author}

    """
  }

  /// The scenario on a copy of a store.
  ///
  /// - Parameter attribute: what is read of each object; nil where the entity has none.
  static func text(name: String, store: String, entity: String, attribute: String?) -> String {
    let touch = attribute.map { "\n  - {touch: objects, read: [\($0)]}" } ?? ""
    return """
      # yaml-language-server: $schema=\(ScenarioSchema.fileName)
      # Run it:      cdprof run \(name).yml --report html
      # Type it:     cdprof shell \(name).yml
      # All words:   Documentation/scenario-format.md
      name: \(YAMLText.scalar(name))
      source: ours                  # where the numbers come from: book, derived, apple, ours
      story: Say here what this work is, and what to guess before reading on.
      data:
        store: \(YAMLText.scalar(store))   # each variant works on a copy; the model comes out of it
      steps:                        # what all variants share; a step is a line of `cdprof shell` as well
        - {fetch: \(entity), as: objects}\(touch)
      variants:                     # each says only its difference, and what it must cost
        - name: plain
          why: One fetch brings the rows, and the objects read them from the row cache.
          expect: {fetches: 1, selects: 1, rows: \(entity), misses: 0}
        - name: in pages
          why: IDs first, then twenty objects at a time.
          set: {objects.batch: 20, objects.faults: no}
          expect: {fetches: 1, misses: 0, peak: at most 100}

      """
  }

  /// The model of the made data.
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
