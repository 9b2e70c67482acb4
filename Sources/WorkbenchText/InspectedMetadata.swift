package import ManagedModel
package import SQLiteDriver

/// The metadata of a store, from the table `Z_METADATA`.
package struct InspectedMetadata {
  /// The framework that wrote the store.
  package enum Writer: Sendable, Equatable {
    case apple
    case other(String)
  }

  package let uuid: String
  package let writer: Writer
  /// The version of the framework that wrote it; `nil` if the metadata has none.
  package let frameworkVersion: Int?
  /// The version identifiers of the model.
  package let modelIdentifiers: [String]
  /// Whether the version hashes are OpenCoreData's.
  package let hasOwnDigests: Bool
  /// The version hashes by entity name.
  package let hashes: [String: Data]
  /// The app's own keys with formatted values, sorted by key.
  package let own: [(key: String, value: String)]

  /// Reads the table with one SELECT.
  ///
  /// - Throws: An `InvalidInputError` if the table has no row or UUID, or if its property list
  ///   can't be read; a `SQLiteError`.
  package init(reading connection: Connection, path: String) throws {
    let row = try HousekeepingTables.row(
      "SELECT Z_UUID, Z_PLIST FROM Z_METADATA", on: connection)
    guard let row, case .text(let uuid)? = row.first else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) is corrupt: its table Z_METADATA has no "
          + (row == nil ? "row" : "UUID, which the URIs of its objects require"),
        nextStep: InvalidInputError.recovery)
    }
    var values: [String: Any] = [:]
    if case .blob(let bytes) = row[1] {
      guard let list = PropertyList.read(bytes) as? [String: Any] else {
        throw InvalidInputError(
          kind: .unusable,
          message: "\(path) is corrupt: the property list in Z_METADATA can't be read",
          nextStep: InvalidInputError.recovery)
      }
      values = list
    }
    self.uuid = uuid
    writer = (values["cdprof.persistenceFramework"] as? String).map { .other($0) } ?? .apple
    frameworkVersion = (values["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue
    modelIdentifiers = (values["NSStoreModelVersionIdentifiers"] as? [String] ?? [])
      .filter { !$0.isEmpty }
    hasOwnDigests = values["cdprof.modelDigestFormula"] != nil
    hashes = values["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
    own = values.keys.filter { !Self.isFrameworks($0) }.sorted()
      .map { ($0, Self.text(values[$0])) }
  }

  private static func isFrameworks(_ key: String) -> Bool {
    ["NSStore", "NSPersistence", "_NSAutoVacuum", "cdprof."].contains { key.hasPrefix($0) }
  }

  /// Returns a value on one line; for a container or data, only the size.
  private static func text(_ value: Any?) -> String {
    switch value {
    case let text as String: String(text.prefix(120))
    case let number as NSNumber: "\(number)"
    case let date as Date: date.formatted(.iso8601)
    case let data as Data: NumberText.counted(data.count, "byte")
    case let list as [Any]: NumberText.counted(list.count, "element")
    case let list as [String: Any]: NumberText.counted(list.count, "key")
    default: "?"
    }
  }
}
