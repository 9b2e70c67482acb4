import ManagedModel
import SQLiteDriver

@testable import OpenCoreData

/// The same random items twice: as rows of a store and as dictionaries in memory.
struct LibraryRows {
  let connection: Connection
  let model: SQLModel
  let translator: SQLTranslator

  /// Each item as a dictionary, with its primary key as `objectID`.
  private(set) var items: [[String: Any]] = []

  static let texts = ["", "a", "ab", "abc", "Abc", "b*", "É", "e", "éa", "zz", "Ab c"]

  init(seed: UInt64, count: Int) throws {
    var random = SeededRandom(seed: seed)
    connection = try SharedData.newFile()
    try StoreFunctions.register(on: connection)
    let library = SchemaModels.library()
    model = SQLModel(model: library)
    translator = SQLTranslator(model: model) { value in
      (value as? PredicateSQLTests.Key).map {
        ObjectKey(primaryKey: $0.key, entityName: $0.entity)
      }
    }
    try SchemaBuilder(model: model).create(
      on: connection, metadata: StoreMetadata(model: library, digests: [:], digestFormula: 1),
      modelCache: nil)
    let authors = try makeAuthors(&random)
    let tags = try makeTags()
    for key in 1...count { try makeItem(Int64(key), authors, tags, &random) }
  }

  private func makeAuthors(_ random: inout SeededRandom) throws -> [[String: Any]] {
    var authors: [[String: Any]] = []
    for key in 1...6 {
      var author: [String: Any] = [
        "objectID": PredicateSQLTests.Key(entity: "Author", key: Int64(key))
      ]
      let name = random.sometimes(Self.texts.randomElement(using: &random))
      let age = random.sometimes(Int64.random(in: 0...4, using: &random))
      author["name"] = name
      author["age"] = age
      // Mentors precede their pupils, so the dictionaries contain no cycle.
      let mentor = random.sometimes(authors.indices.randomElement(using: &random))
      if let mentor { author["mentor"] = authors[mentor] }
      authors.append(author)
      _ = try connection.values(
        "INSERT INTO ZAUTHOR(Z_PK, Z_ENT, Z_OPT, ZAGE, ZMENTOR, ZNAME) VALUES(?, 1, 1, ?, ?, ?)",
        [
          .integer(Int64(key)), .from(age), .from(mentor.map { Int64($0 + 1) }), .from(name),
        ])
    }
    return authors
  }

  private func makeTags() throws -> [[String: Any]] {
    try Self.texts.prefix(5).enumerated().map { index, name in
      _ = try connection.values(
        "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, 6, 1, ?)",
        [.integer(Int64(index + 1)), .text(name)])
      return ["name": name]
    }
  }

  private mutating func makeItem(
    _ key: Int64, _ authors: [[String: Any]], _ tags: [[String: Any]],
    _ random: inout SeededRandom
  ) throws {
    let title = random.sometimes(Self.texts.randomElement(using: &random))
    let weight = random.sometimes(Double(Int.random(in: 0...8, using: &random)) / 2)
    let isLent = random.sometimes(Bool.random(using: &random))
    let author = random.sometimes(authors.indices.randomElement(using: &random))
    let chosen = tags.indices.filter { _ in Int.random(in: 0...2, using: &random) == 0 }
    var item: [String: Any] = ["objectID": key, "tags": chosen.map { tags[$0] }]
    item["title"] = title
    item["weight"] = weight
    item["isLent"] = isLent
    if let author { item["author"] = authors[author] }
    items.append(item)
    _ = try connection.values(
      """
      INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZTITLE, ZWEIGHT, ZISLENT, ZAUTHOR)
      VALUES(?, ?, 1, ?, ?, ?, ?)
      """,
      [
        .integer(key), .integer(2 + key % 3), .from(title), .from(weight),
        .from(isLent.map { Int64($0 ? 1 : 0) }), .from(author.map { Int64($0 + 1) }),
      ])
    for tag in chosen {
      _ = try connection.values(
        "INSERT INTO Z_2TAGS(Z_2ITEMS, Z_6TAGS) VALUES(?, ?)",
        [.integer(key), .integer(Int64(tag + 1))])
    }
  }

  /// The primary keys that a SELECT returns, in order.
  func keys(_ query: SelectQuery) throws -> [Int64] {
    for (index, values) in query.intArrays.enumerated() {
      try connection.bindIntArray(index, values)
    }
    return try connection.values(query.sql, query.binds).compactMap { row in
      if case .integer(let key) = row[1] { key } else { nil }
    }
  }
}

extension SQLiteValue {
  static func from(_ value: Int64?) -> SQLiteValue { value.map { .integer($0) } ?? .null }
  static func from(_ value: Double?) -> SQLiteValue { value.map { .real($0) } ?? .null }
  static func from(_ value: String?) -> SQLiteValue { value.map { .text($0) } ?? .null }
}
