import OpenCoreData
import SQLiteDriver

/// What a store says of itself in `Z_METADATA`, as far as it can be read.
struct MetadataCheck {
  private(set) var uuid: String?
  private(set) var isMadeHere = false
  private(set) var findings: [DoctorFinding] = []

  /// Reads the table.
  ///
  /// Two statements.
  init(reading connection: Connection) throws {
    guard
      let row = try HousekeepingTables.row(
        "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA", on: connection)
    else {
      report("the table Z_METADATA is empty, so that no framework opens the store")
      return
    }
    let counted = try connection.values("SELECT COUNT(*) FROM Z_METADATA")
    if case .integer(let count)? = counted.first?.first, count > 1 {
      report("the table Z_METADATA has \(count) rows instead of one")
    }
    if case .text(let uuid) = row[1], !uuid.isEmpty {
      self.uuid = uuid
    } else {
      report("the store has no UUID, of which the URIs of its objects are made")
    }
    guard case .blob(let bytes) = row[2] else {
      report("the metadata has no property list")
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      report("the property list of the metadata cannot be read")
      return
    }
    isMadeHere = values["cdprof.persistenceFramework"] != nil
    guard let hashes = values["NSStoreModelVersionHashes"] as? [String: Data], !hashes.isEmpty
    else {
      report("the metadata has no version hashes, so that no model fits the store")
      return
    }
  }

  private mutating func report(_ message: String) {
    findings.append(
      DoctorFinding(
        .metadata, table: "Z_METADATA", message,
        nextStep: "take the row from a backup of the same store"))
  }
}
