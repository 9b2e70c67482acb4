import CFloor
import OpenCoreData

/// Migrating a store object by object, compared with a program that fetches the same objects and
/// inserts them into another store, with as many of them in a batch.
struct MigrationManagerWorkloads {
  let bed: Bed
  private static let batchSize = 1_000

  func attributes() throws -> Workload {
    try workload(
      "migrate with a manager, attributes", withRelationships: false,
      note: "Nine attributes of each object, none converted.")
  }

  func relationships() throws -> Workload {
    try workload(
      "migrate with a manager, relationships", withRelationships: true,
      note: "Also the country of each object, and the countries.")
  }

  private func workload(
    _ name: String, withRelationships: Bool, note: String
  ) throws -> Workload {
    Workload(
      name: name, unit: "row", operations: bed.rows, limit: 3,
      arms: [
        Arm(program: .copy) { [bed] in
          let url = bed.builder.absentStore("copied.sqlite")
          return try Self.copy(bed.url, to: url, withRelationships)
        },
        Arm(program: .ours) { [bed] in
          let url = bed.builder.absentStore("mapped.sqlite")
          return try Self.migrate(bed.url, to: url, withRelationships)
        },
      ],
      note: note
        + " Inferred mapping model, no policies; the copy uses generated accessors. Both save "
        + "\(Self.batchSize) objects at a time, and create the store.")
  }

  /// Migrates a store with a manager, and returns the time in nanoseconds.
  private static func migrate(
    _ source: URL, to destination: URL, _ withRelationships: Bool
  ) throws -> UInt64 {
    let models = (
      BenchModel.make(moodClass: NSManagedObject.self),
      BenchModel.make(moodClass: NSManagedObject.self)
    )
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: models.0, destinationModel: models.1)
    if !withRelationships {
      mapping.entityMappings.removeAll { $0.sourceEntityName == "Country" }
      for entity in mapping.entityMappings { entity.relationshipMappings = [] }
    }
    let manager = NSMigrationManager(sourceModel: models.0, destinationModel: models.1)
    manager.batchSize = batchSize
    return try timed {
      try manager.migrateStore(
        from: source, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
    }.time
  }

  /// Copies the objects of a store with its contexts, and returns the time in nanoseconds.
  private static func copy(
    _ source: URL, to destination: URL, _ withRelationships: Bool
  ) throws -> UInt64 {
    MoodsModel.registerClasses()
    let models = (
      BenchModel.make(moodClass: GeneratedMood.self), BenchModel.make(moodClass: GeneratedMood.self)
    )
    return try timed {
      let from = try Stack(url: source, model: models.0).context()
      let to = try Stack(url: destination, model: models.1).context()
      try from.performAndWait {
        try to.performAndWait {
          var countries: [NSManagedObjectID: NSManagedObjectID] = [:]
          if withRelationships {
            countries = try copyCountries(from, to)
          }
          try copyMoods(from, to, countries)
        }
      }
    }.time
  }

  private static func copyCountries(
    _ from: NSManagedObjectContext, _ to: NSManagedObjectContext
  ) throws -> [NSManagedObjectID: NSManagedObjectID] {
    var countries: [NSManagedObjectID: NSManagedObjectID] = [:]
    var pairs: [(NSManagedObjectID, Country)] = []
    for country in try objects(Country.self, from) {
      let copy = Country(context: to)
      copy.name = country.name
      pairs.append((country.objectID, copy))
    }
    try to.save()
    for (id, copy) in pairs { countries[id] = copy.objectID }
    to.reset()
    return countries
  }

  private static func copyMoods(
    _ from: NSManagedObjectContext, _ to: NSManagedObjectContext,
    _ countries: [NSManagedObjectID: NSManagedObjectID]
  ) throws {
    for (index, mood) in try objects(GeneratedMood.self, from).enumerated() {
      let copy = GeneratedMood(context: to)
      copy.rank = mood.rank
      copy.stamp = mood.stamp
      copy.votes = mood.votes
      copy.flags = mood.flags
      copy.kind = mood.kind
      copy.latitude = mood.latitude
      copy.longitude = mood.longitude
      copy.name = mood.name
      copy.note = mood.note
      if !countries.isEmpty, let id = mood.country.flatMap({ countries[$0.objectID] }) {
        copy.country = to.object(with: id) as? Country
      }
      if (index + 1).isMultiple(of: batchSize) {
        try to.save()
        to.reset()
      }
    }
    try to.save()
  }

  private static func objects<Object: NSManagedObject>(
    _ type: Object.Type, _ context: NSManagedObjectContext
  ) throws -> BatchedFetchResult<Object> {
    let request = NSFetchRequest<Object>(entityName: type == Country.self ? "Country" : "Mood")
    request.fetchBatchSize = batchSize
    request.returnsObjectsAsFaults = false
    return try context.fetchBatched(request)
  }
}
