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
    data:                         # made anew for each variant, the same for the same seed
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
