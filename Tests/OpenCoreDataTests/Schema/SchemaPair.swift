import ManagedModel
import Testing

@testable import OpenCoreData

/// A store that Core Data created, its model, and the intended differences of the schema that
/// OpenCoreData creates.
struct SchemaPair: CustomTestStringConvertible, Sendable {
  let store: String
  let document: String
  let version: String

  /// Indexes that only the store has, and those that OpenCoreData creates instead.
  var theirIndexes: Set<String> = []
  var ourIndexes: Set<String> = []

  var testDescription: String { store }

  func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.read(contentsOf: SharedData.url(document), version: version)
  }

  private static let moody = "moody/Moody.xcdatamodeld"
  private static let sample =
    "models/CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld"

  /// A store of Core Data 637 (2015): uniqueness constraints are table constraints with SQLite's
  /// automatic index, and indexes are named after columns.
  private static func older(
    _ store: String, _ version: String, remote: String, unique: [String]
  ) -> SchemaPair {
    let column = "Z" + remote.uppercased()
    var theirs: Set = [
      "ZMOOD_ZMARKEDFORDELETIONDATE_INDEX", "ZMOOD_\(column)_INDEX",
      "ZMOOD_ZMARKEDFORREMOTEDELETION_ZMARKEDFORDELETIONDATE_ZDATE",
    ]
    var ours: Set = [
      "Z_Mood_markedForDeletionDate", "Z_Mood_\(remote)",
      "Z_Mood_markedForRemoteDeletion_markedForDeletionDate_date",
    ]
    for entity in unique {
      let table = "Z" + entity.uppercased()
      theirs.formUnion([
        "sqlite_autoindex_\(table)_1", "\(table)_ZMARKEDFORDELETIONDATE_ZUPDATEDAT",
      ])
      ours.formUnion([
        "Z_\(entity)_UNIQUE_numericISO3166Code_uniquenessDummy",
        "Z_\(entity)_markedForDeletionDate_updatedAt",
      ])
    }
    return SchemaPair(
      store: "moody/stores/\(store).moody", document: moody, version: version,
      theirIndexes: theirs, ourIndexes: ours)
  }

  static let all: [SchemaPair] = [
    older(
      "Moody", "Moody", remote: "remoteIdentifier",
      unique: ["GeographicRegion"]),
    older(
      "Moody 2", "Moody 2", remote: "remoteID",
      unique: ["GeographicRegion"]),
    older(
      "Moody 3", "Moody 3", remote: "remoteID",
      unique: ["GeographicRegion"]),
    older(
      "Moody 4", "Moody 4", remote: "remoteID", unique: ["Continent", "Country"]),
    older("Moody 5", "Moody 5", remote: "remoteID", unique: ["Country"]),
    SchemaPair(store: "stores/SampleModel_V1.sqlite", document: sample, version: "SampleModel"),
    SchemaPair(store: "stores/SampleModel_V2.sqlite", document: sample, version: "SampleModel2"),
  ]
}
