package import Foundation
import ManagedModel
import OpenCoreData
import WorkbenchText

/// Valid inputs of each target, from the repository's own files.
package struct FuzzSeeds {
  /// The folder of the package.
  package static let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private let corpus: URL

  /// Writes to a folder, which need not exist.
  package init(in corpus: URL) {
    self.corpus = corpus
  }

  /// Writes the seeds of all targets, each to a folder of its own.
  ///
  /// Throws if one of the repository's files can't be read, or the folder can't be written to.
  package func write() throws {
    for target in FuzzTarget.allCases {
      try FileManager.default.createDirectory(
        at: folder(of: target), withIntermediateDirectories: true)
    }
    try writeTexts()
    try writeModels()
    try write(store: "small", objects: 3)
    try write(store: "large", objects: 40)
  }

  private func folder(of target: FuzzTarget) -> URL {
    corpus.appendingPathComponent(target.rawValue, isDirectory: true)
  }

  private func write(_ bytes: some Sequence<UInt8>, _ name: String, for target: FuzzTarget) throws {
    try Data(bytes).write(to: folder(of: target).appendingPathComponent(name))
  }

  /// The files of a folder with an extension, and their contents.
  private func files(
    _ path: String, _ suffix: String
  ) -> [(name: String, url: URL)] {
    let root = Self.repository.appendingPathComponent(path)
    let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? [])
      .filter { $0.path.hasSuffix(suffix) }
      .map { url in
        (
          url.path.dropFirst(root.path.count + 1).replacingOccurrences(of: "/", with: "-"), url
        )
      }
      .sorted { $0.name < $1.name }
  }

  // MARK: Text

  private func writeTexts() throws {
    for (name, url) in files("Scenarios", ".yml") {
      let text = try String(contentsOf: url, encoding: .utf8)
      try write(text.utf8, name, for: .scenario)
      // The steps are what a shell line contains, without YAML's braces.
      for match in text.matches(of: /(?m)^  - \{(.*)\}$/).prefix(2) {
        let line = match.1.replacingOccurrences(of: ": ", with: " ")
        try write(line.utf8, "\(name)-\(match.1.count)", for: .line)
      }
    }
    let documentation = try String(
      contentsOf: Self.repository.appendingPathComponent("Documentation/predicates.md"),
      encoding: .utf8)
    for (number, match) in documentation.matches(of: /`([^`\n]+)`/).enumerated() {
      try write(match.1.utf8, "\(number)", for: .predicate)
    }
    for (number, log) in Self.logs.enumerated() { try write(log.utf8, "\(number)", for: .log) }
    for (name, url) in files("Reports/samples", ".json") {
      try write(Data(contentsOf: url), name, for: .result)
    }
  }

  private static let logs = [
    """
    CoreData: annotation: Connecting to sqlite database file at "/tmp/Moody.sqlite"
    CoreData: sql: BEGIN EXCLUSIVE
    CoreData: sql: INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT, ZDATE) VALUES(?, ?, ?, ?)
    CoreData: details: SQLite bind[0] = (int64)1
    CoreData: sql: COMMIT

    """,
    """
    2014-07-31 15:29:04.797 Moody[1234:60b] CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0
    2014-07-31 15:29:04.798 Moody[1234:60b] CoreData: annotation: sql connection fetch time: 0.0009s
    2014-07-31 15:29:04.799 Moody[1234:60b] CoreData: annotation: total fetch execution time: 0.0012s for 20 rows.
    2014-07-31 15:29:04.800 Moody[1234:60b] CoreData: annotation: fault fulfilled from database for : 0x8e6b5b0 <x-coredata://F6/Mood/p1>
    cdprof: begin list
    Jul 31 15:29:05 mac Moody[1234]: CoreData: annotation: Prefetching with key 'country'.  Got 2 rows.
    cdprof: end

    """,
    """
    {"timestamp":"2023-01-02 03:04:05.000006+0000","threadID":5,"eventMessage":"CoreData: sql: SELECT 1","subsystem":"com.apple.coredata"}

    """,
  ]

  // MARK: Models

  private func writeModels() throws {
    for (name, url) in files("Scenarios/Models", "contents") {
      let data = try Data(contentsOf: url)
      try write(data, name, for: .document)
      let archive = ModelArchive.bytes(of: try ModelDocument.read(data: data, file: url.path))
      try write(archive, "\(name).mom", for: .mom)
      try write(archive, "\(name).plist", for: .plist)
    }
    for (name, url) in files("Scenarios/Models", "xcmapping.xml") {
      try write(Data(contentsOf: url), name, for: .mapping)
    }
    let values: [String: Any] = [
      "a": 1, "b": ["c", 2.5, Date(timeIntervalSince1970: 0)], "d": Data([1]),
    ]
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let data = try PropertyListSerialization.data(
        fromPropertyList: values, format: format, options: 0)
      try write(data, "\(format.rawValue)", for: .plist)
      try write(data, "\(format.rawValue)", for: .cdm)
    }
  }

  // MARK: Stores

  private func write(store name: String, objects: Int) throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("Seed-\(getpid())-\(name).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    let document = Self.repository.appendingPathComponent("Scenarios/Models/Moody.xcdatamodel")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.read(contentsOf: document))
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSPersistentHistoryTrackingKey: true,
        NSSQLitePragmasOption: ["journal_mode": "DELETE", "page_size": "512"],
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<objects {
        let continent = NSEntityDescription.insertNewObject(
          forEntityName: "Continent", into: context)
        let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        country.setValue(continent, forKey: "continent")
        mood.setValue(country, forKey: "country")
        mood.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
        for object in [continent, country, mood] { fill(object, number) }
      }
      try context.save()
    }
    try coordinator.remove(store)
    try write(Data(contentsOf: url), name, for: .store)
  }

  /// Sets the required attributes that have no value.
  private func fill(_ object: NSManagedObject, _ number: Int) {
    for (name, attribute) in object.entity.attributesByName
    where object.value(forKey: name) == nil && !attribute.isDerived && !attribute.isTransient {
      switch attribute.attributeType {
      case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
        object.setValue(number, forKey: name)
      case .stringAttributeType: object.setValue("text \(number)", forKey: name)
      case .doubleAttributeType, .floatAttributeType: object.setValue(1.5, forKey: name)
      case .dateAttributeType: object.setValue(Date(timeIntervalSince1970: 1), forKey: name)
      case .booleanAttributeType: object.setValue(true, forKey: name)
      case .binaryDataAttributeType: object.setValue(Data([1, 2]), forKey: name)
      default: break
      }
    }
  }
}
