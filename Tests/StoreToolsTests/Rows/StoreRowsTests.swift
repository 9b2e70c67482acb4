import Foundation
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import OpenCoreData
@testable import StoreTools
@testable import WorkbenchText

@Suite("Rows match the file")
struct StoreRowsTests {
  /// Compares all rows and relationships with the results of plain SQL.
  @Test(.enabled(if: SharedData.moodyStores != nil), arguments: SharedData.stores)
  func rowsOfAppleStoresMatchPlainSQL(path: String) throws {
    try compare(try SharedData.url(path))
  }

  @Test func rowsOfOwnStoresMatchPlainSQL() throws {
    let store = try OfficeStore()
    try compare(store.url)
    withExtendedLifetime(store.folder) {}
  }

  /// Stored integers are shown even if they're out of range for the attribute's type.
  @Test func integersOutOfRangeAreNotTruncated() throws {
    let store = try OfficeStore()
    try store.run("UPDATE ZPASSPORT SET ZNUMBER = 3000000000")
    try compare(store.url)
    var found = 0
    try StoreRows(store.url, entity: "Passport", where: "number == 3000000000")
      .forEach { _ in found += 1 }
    #expect(found == 3)
  }

  /// A date that the calendar can't represent is shown in seconds.
  @Test func datesOutOfRangeAreShownInSeconds() throws {
    let store = try OfficeStore()
    for (seconds, text) in [
      ("1e300", "1e+300 seconds since 2001-01-01"), ("9e999", "inf seconds since 2001-01-01"),
      ("-63114076801", "-63114076801.0 seconds since 2001-01-01"),
      ("-63114076800", "0001-01-01T00:00:00.000Z"), ("252423993599", "9999-12-31T23:59:59.000Z"),
    ] {
      try store.run("UPDATE ZPARTY SET ZSAVEDAT = \(seconds) WHERE ZCODE = 'c1'")
      var lines: [String] = []
      try StoreRows(store.url, entity: "Person", where: "code == 'c1'").forEach {
        lines += RowsText.lines($0)
      }
      #expect(lines.contains { $0.hasPrefix("  savedAt") && $0.hasSuffix("   \(text)") }, "\(text)")
    }
  }

  /// A corrupt model is treated like a missing one.
  @Test func storeWithCorruptModelIsReadFromTables() throws {
    let store = try OfficeStore()
    try store.run("UPDATE Z_MODELCACHE SET Z_CONTENT = x'010203'")
    let rows = try StoreRows(store.url, entity: "Note", where: nil)
    var count = 0
    try rows.forEach { _ in count += 1 }
    #expect(rows.isInferred && count == 6)
  }

  /// A store of a configuration is opened with it, and contains only its entities.
  @Test(arguments: [
    ("Local", "City", ["Berlin", "Kyiv"], "Country"), ("Cloud", "Country", ["Ukraine"], "City"),
  ])
  func rowsOfAConfigurationAreRead(
    configuration: String, entity: String, names: [String], other: String
  ) throws {
    let store = try ConfigurationStore(configuration)
    let rows = try StoreRows(store.url, entity: entity, where: "name != nil")
    var found: [String] = []
    try rows.forEach { row in
      found += row.values.filter { $0.name == "name" }.map(\.value.plain)
      #expect(row.values.filter { $0.name != "name" }.map(\.value.plain) == [""])
    }
    try rows.check()
    #expect(found.sorted() == names)
    let failure = #expect(throws: CommandFailure.self) {
      try StoreRows(store.url, entity: other, where: nil)
    }
    #expect(
      failure?.message
        == "the store contains only the configuration \(configuration), "
        + "which has no entity `\(other)`")
    #expect(failure?.nextStep == "its entities are: \(entity)")
  }

  /// SQLite could read the keys from an index, in its order.
  @Test func rowsAreInTheOrderOfTheirPrimaryKeys() throws {
    let store = try OfficeStore()
    try store.run("CREATE INDEX byVersion ON ZTAG (Z_OPT); UPDATE ZTAG SET Z_OPT = 10 - Z_PK")
    for (limit, keys) in [(nil, ["p1", "p2"]), (1, ["p1"])] as [(Int?, [String])] {
      var found: [String] = []
      try StoreRows(store.url, entity: "Tag", where: nil, limit: limit).forEach { row in
        found.append(String(row.id.split(separator: "/").last ?? ""))
      }
      #expect(found == keys)
    }
    withExtendedLifetime(store.folder) {}
  }

  /// A cycle of parent entities doesn't hide rows.
  @Test func cyclicEntityParentsAreRead() throws {
    let store = try OfficeStore()
    try store.run("UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT; DELETE FROM Z_MODELCACHE")
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.entities.first { $0.name == "Note" }?.ownCount == 6)
    var count = 0
    try StoreRows(store.url, entity: "Tag", where: nil).forEach { _ in count += 1 }
    #expect(count == 2)
  }

  /// A value that can't be read isn't reported as empty.
  @Test func unreadableRowsAreErrors() throws {
    let store = try OfficeStore()
    try store.run("UPDATE ZPARTY SET Z_ENT = 77 WHERE ZCODE = 'c1'")
    var count = 0
    let rows = try StoreRows(store.url, entity: "Tag", where: nil)
    try rows.forEach { _ in count += 1 }
    #expect(count == 2)
    let refusal = #expect(throws: InvalidInputError.self) { try rows.check() }
    #expect(refusal?.kind == .unusable && refusal?.message.contains("entity ID 77") == true)
  }

  @Test func errorsNameWhatIsMissing() throws {
    let store = try OfficeStore()
    try store.run("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")
    let report = try StoreDoctor.examine(store.url)
    #expect(
      report.findings.first { $0.rule == .model }?.examples
        == ["The model has the entity Tag, which the file's table Z_PRIMARYKEY doesn't list."])
    try store.run("UPDATE Z_METADATA SET Z_UUID = NULL")
    let refusal = #expect(throws: InvalidInputError.self) { try InvalidInputError.check(store.url) }
    #expect(refusal?.message.contains("has no UUID") == true)
    let document = store.folder.file("Document.xml")
    try Data(#"<?xml version="1.0"?> <!DOCTYPE database SYSTEM "CoreData.dtd"><database/>"#.utf8)
      .write(to: document)
    let other = #expect(throws: InvalidInputError.self) { try InvalidInputError.check(document) }
    #expect(other?.message.contains("is an XML store") == true)
  }

  /// Each URI contains it, so that a store of some megabytes would take gigabytes of memory.
  @Test func storeWithALongIdentifierIsRejected() throws {
    let store = try OfficeStore()
    try store.run("UPDATE Z_METADATA SET Z_UUID = hex(zeroblob(2048))")
    try InvalidInputError.check(store.url)
    try store.run("UPDATE Z_METADATA SET Z_UUID = hex(zeroblob(2049))")
    let refusal = #expect(throws: InvalidInputError.self) { try InvalidInputError.check(store.url) }
    #expect(refusal?.message.hasSuffix("4098 bytes, and the limit is 4096") == true)
    #expect(refusal?.nextStep == InvalidInputError.recovery)
    #expect(throws: InvalidInputError.self) { try StoreDoctor.examine(store.url) }
  }

  /// Another program that writes to the file isn't the cause.
  @Test func historyWithoutItsColumnsIsReferredToARepair() throws {
    let store = try OfficeStore(hasHistory: false)
    try store.run(
      "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY); "
        + "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY)")
    let refusal = #expect(throws: InvalidInputError.self) { try StoreDoctor.examine(store.url) }
    #expect(refusal?.message.contains("no such column") == true)
    #expect(refusal?.nextStep == InvalidInputError.recovery)
  }

  /// Rows of subentities have the columns of all of them; a quoted value keeps its line feed.
  @Test func csvHasOneColumnPerProperty() throws {
    let store = try OfficeStore()
    let rows = try StoreRows(store.url, entity: "Party", where: nil, limit: 3)
    let writer = RowsCSV(rows.properties)
    #expect(writer.header.first?.hasPrefix("entity,id,code,") == true)
    #expect(writer.header.first?.contains(",seat,") == true)
    var lines: [[String]] = []
    try rows.forEach { lines.append(writer.lines($0)) }
    #expect(lines.count == 3)
    var seat: [String] = []
    try StoreRows(store.url, entity: "Company", where: nil).forEach { seat += writer.lines($0) }
    #expect(seat.count == 2 && seat[0].contains("\"a \"\"b\"\" \\ "))
    #expect(lines.joined().contains { $0.contains("x'07070707070707070707'") })
  }

  @Test(
    "The columns of CSV have different names if a property is named like one of them",
    arguments: [
      (["name"], "entity,id,name"), (["id", "name"], "entity,objectID,id,name"),
      (["ID", "entity"], "objectEntity,objectID,ID,entity"),
    ])
  func csvColumnsHaveDifferentNames(properties: [String], header: String) {
    #expect(RowsCSV(properties).header == [header])
  }

  /// 500 values of many megabytes aren't in memory at the same time.
  @Test func batchesAreLimitedByTheSizeOfTheirRows() throws {
    let store = try OfficeStore()
    func batches(of entity: String, upTo bytes: Int) throws -> [[String]] {
      let rows = try StoreRows(store.url, entity: entity, where: nil, batchBytes: bytes)
      var batches: [[String]] = []
      try rows.forEachBatch { batches.append($0.flatMap(RowsText.lines)) }
      try rows.check()
      return batches
    }
    for (entity, count) in [("Person", 3), ("Note", 6), ("Tag", 2)] {
      let whole = try batches(of: entity, upTo: 32 << 20)
      let single = try batches(of: entity, upTo: 1)
      #expect(whole.count == 1 && single.count == count)
      #expect(single.flatMap(\.self) == whole.flatMap(\.self))
    }
    try store.run("UPDATE ZPARTY SET ZPHOTO = zeroblob(100000) WHERE ZCODE LIKE 'c_'")
    let limited = try batches(of: "Person", upTo: 250_000)
    #expect(limited.map { $0.filter { $0.hasPrefix("x-coredata:") }.count } == [2, 1])
    withExtendedLifetime(store.folder) {}
  }

  /// Values of hundreds of megabytes aren't copied to be written.
  @Test func longValuesAreWrittenInParts() {
    let text = String(repeating: "a \"\u{301}b\\,\n\u{1B}é", count: 30_000)
    let bytes = Data((0..<200_003).map { UInt8(truncatingIfNeeded: $0) })
    let group = RowText.group(["key \"1\"": .text(text), "key 2": .bytes(bytes), "key 3": .null])
    let values: [RowText] = [.text(text), .bytes(bytes), group, .group([:]), .text(""), .null]
    for value in values {
      var (json, csv): ([String], [String]) = ([], [])
      value.forEachPartOfJSON { json.append($0) }
      value.forEachPartOfCSV { csv.append($0) }
      #expect(Array(json.joined().utf8) == Array(value.json.utf8))
      let lines = CSVText.lines([value.plain]).joined(separator: "\n")
      #expect(Array(csv.joined().utf8) == Array(lines.utf8))
      #expect((json + csv).allSatisfy { $0.utf8.count < 1 << 17 })
    }
    var parts: [Data] = []
    var output = PartedText { parts.append($0) }
    for _ in 0..<100_000 { output.add("é,") }
    output.end()
    #expect(parts.count == 5 && parts.map(\.count).reduce(0, +) == 300_000)
  }

  private func compare(_ url: URL) throws {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let anatomy = try StoreAnatomy(reading: connection)
    var compared = 0
    for entity in anatomy.mapping.entities {
      var rows: [StoreRow] = []
      try StoreRows(url, entity: entity.name, where: nil).forEach { rows.append($0) }
      let numbers = entity.concreteNumbers.map(String.init).joined(separator: ", ")
      let keys = try connection.values(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(entity.table)) WHERE Z_ENT IN (\(numbers)) ORDER BY Z_PK"
      )
      #expect(rows.count == keys.count)
      #expect(Set(rows.map { Self.key($0.id) }) == Set(keys.map { $0[0] }), "\(entity.name)")
      for row in rows where row.entity == entity.name {
        compared += 1
        let key = try #require(Int64(row.id.split(separator: "/").last?.dropFirst() ?? ""))
        let values = Dictionary(uniqueKeysWithValues: row.values.map { ($0.name, $0.value) })
        for column in entity.columns {
          let stored = try connection.values(
            "SELECT \(SQLSyntax.quoted(column.name)) FROM \(SQLSyntax.quoted(entity.table)) WHERE Z_PK = \(key)"
          )
          #expect(
            values[column.property.name]?.isStored(stored[0][0]) == true,
            "\(row.id) \(column.property.name): \(stored[0][0])")
        }
        for (name, toMany) in entity.toMany {
          guard case .objects(let uris)? = values[name] else {
            Issue.record("\(name) isn't a list")
            continue
          }
          let stored = try connection.values(Self.members(of: toMany), [.integer(key)])
          #expect(
            Set(uris.map(Self.key)) == Set(stored.map { $0[0] }), "\(row.id) \(name)")
        }
      }
    }
    #expect(compared > 0)
  }

  private static func key(_ uri: String) -> SQLiteValue {
    .integer(Int64(uri.split(separator: "/").last?.dropFirst() ?? "") ?? 0)
  }

  private static func members(of toMany: SQLToMany) -> String {
    switch toMany.storage {
    case .foreignKey(let column, _):
      "SELECT Z_PK FROM \(SQLSyntax.quoted(toMany.destination.table)) WHERE \(SQLSyntax.quoted(column)) = ?"
    case .joinTable(let table, let source, let destination, _):
      "SELECT \(SQLSyntax.quoted(destination)) FROM \(SQLSyntax.quoted(table)) WHERE \(SQLSyntax.quoted(source)) = ?"
    }
  }

  @Test func jsonRoundTripsAndPredicatesFilter() throws {
    let store = try OfficeStore()
    var writer = RowsJSON()
    var data = Data()
    try StoreRows(store.url, entity: "Party", where: "name BEGINSWITH 'Person'").forEach {
      data += writer.json($0)
    }
    var text: [String] = []
    try StoreRows(store.url, entity: "Person", where: "code == 'c2'").forEach {
      text += RowsText.lines($0)
    }
    #expect(text.contains { $0.contains(/^  savedAt +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) })
    #expect(text.contains { $0.contains(/^  photo +10 bytes$/) })
    #expect(
      text.contains { $0.contains(/^  notes +x-coredata:.*Note\/p\d+, x-coredata:.*Note\/p\d+$/) })
    var company = RowsJSON()
    var line = Data()
    try StoreRows(store.url, entity: "Company", where: nil).forEach { line += company.json($0) }
    line += company.end()
    let companies = try JSONSerialization.jsonObject(with: line) as? [[String: Any]]
    let seat = (companies?.first?["values"] as? [String: Any])?["seat"] as? String
    #expect(seat == OfficeStore.seat)
    data += writer.end()
    let rows = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    #expect(rows.count == 3)
    #expect(rows.map { $0["entity"] as? String } == ["Person", "Person", "Person"])
    let values = try #require(rows.last?["values"] as? [String: Any])
    #expect(values["name"] as? String == "Person 3")
    #expect(values["noteCount"] as? Int == 3)
    #expect((values["notes"] as? [String])?.count == 3)
    var names: [String: String] = [:]
    try StoreRows(store.url, entity: "Tag", where: nil).forEach { row in
      if case .text(let name)? = row.values.first(where: { $0.name == "name" })?.value {
        names[row.id] = name
      }
    }
    let tags = (values["tags"] as? [String])?.compactMap { names[$0] } ?? []
    #expect(tags.sorted() == ["tag 1", "tag 2"])
    #expect((values["house"] as? String)?.contains("/Company/p") == true)
    #expect(Data(base64Encoded: values["photo"] as? String ?? "")?.count == 10)

    let empty = RowsJSON()
    #expect(empty.end() == Data("[]\n".utf8))
    #expect(throws: CommandFailure.self) {
      try StoreRows(store.url, entity: "Prson", where: nil).forEach { _ in }
    }
    #expect(throws: CommandFailure.self) {
      try StoreRows(store.url, entity: "Person", where: "nme == 'x'").forEach { _ in }
    }
  }
}

extension RowsJSON {
  /// Returns the JSON of a row, after a separator.
  fileprivate mutating func json(_ row: StoreRow) -> Data {
    var data = Data()
    write([row]) { data += $0 }
    return data
  }
}

extension RowsCSV {
  /// Returns the lines of a row.
  fileprivate func lines(_ row: StoreRow) -> [String] {
    var data = Data()
    write([row]) { data += $0 }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

extension RowText {
  /// Whether the value is that of a column.
  fileprivate func isStored(_ value: SQLiteValue) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.bool(let flag), .integer(let number)): flag == (number != 0)
    case (.integer(let number), .integer(let stored)): number == stored
    case (.real(let number), .real(let stored)): number == stored || Float(number) == Float(stored)
    case (.real(let number), .integer(let stored)): number == Double(stored)
    case (.date(let date), .real(let stored)): date.timeIntervalSinceReferenceDate == stored
    case (.date(let date), .integer(let stored)):
      date.timeIntervalSinceReferenceDate == Double(stored)
    case (.decimal(let number), .integer(let stored)): number == Decimal(stored)
    case (.decimal(let number), .real(let stored)): number.description == "\(stored)"
    case (.text(let text), .text(let stored)): text == stored
    case (.text(let text), .blob(let bytes)):
      UUID(uuidString: text).map { withUnsafeBytes(of: $0.uuid) { Array($0) } } == bytes
    case (.bytes(let data), .blob(let bytes)):
      // The first byte of a value with external storage specifies where the value is stored.
      Array(data) == bytes || [1] + Array(data) == bytes
    case (.object(let uri), .integer(let key)): uri.hasSuffix("/p\(key)")
    default: false
    }
  }
}
