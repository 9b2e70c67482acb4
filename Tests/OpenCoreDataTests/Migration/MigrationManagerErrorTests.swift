import OpenCoreData
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Errors of NSMigrationManager")
struct MigrationManagerErrorTests {
  private typealias Sample = LightweightMigrationTests

  /// The error of a migration to a version, and what's left in the destination's folder.
  private func failure(
    to model: NSManagedObjectModel = Sample.model(),
    from before: NSManagedObjectModel = Sample.model(),
    _ edit: (NSMappingModel) -> Void = { _ in }
  ) throws -> NSError {
    let (source, destination) = (try Sample.store(), try MigratedStore())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    edit(mapping)
    let manager = NSMigrationManager(sourceModel: before, destinationModel: model)
    let error = thrownError {
      try manager.migrateStore(
        from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    }
    #expect(try destination.contents().isEmpty)
    return try #require(error)
  }

  private func person(_ mapping: NSMappingModel) -> NSEntityMapping? {
    mapping.entityMappings.first { $0.destinationEntityName == "Person" }
  }

  @Test("A migration whose store can't be opened has ended")
  func failedOpeningEndsTheProgress() throws {
    let (model, missing) = (Sample.model(), try MigratedStore())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    let manager = NSMigrationManager(sourceModel: model, destinationModel: model)
    let error = thrownError {
      try manager.migrateStore(
        from: missing.url, type: .sqlite, mapping: mapping,
        to: missing.url.appendingPathExtension("new"), type: .sqlite)
    }
    #expect(error?.code == NSMigrationManagerSourceStoreError)
    #expect(manager.migrationProgress == 1)
  }

  /// A killed process leaves such a file before it can mark it as incomplete.
  @Test("A destination without a table is a new store", arguments: [false, true])
  func interruptedDestinationsAreNew(isEmpty: Bool) throws {
    let (model, source, destination) = (Sample.model(), try Sample.store(), try MigratedStore())
    if isEmpty {
      try Data().write(to: destination.url)
    } else {
      let connection = try Connection(path: destination.url.path, access: .writing)
      connection.close()
      #expect(FileStamp(path: destination.url.path)?.size ?? 0 > 0)
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: model, destinationModel: model)
    try NSMigrationManager(sourceModel: model, destinationModel: model).migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    let identifiers = try [source, destination].map { store in
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store.url)[
        NSStoreUUIDKey] as? String
    }
    #expect(identifiers[0] != nil && identifiers[0] == identifiers[1])
  }

  @Test("A value of another type names the property and both types")
  func wrongTypeIsAnError() throws {
    let model = Sample.model { person, _ in
      person.properties.append(Sample.attribute("height", .doubleAttributeType))
    }
    let error = try failure(to: model) { mapping in
      let height = person(mapping)?.attributeMappings?.first { $0.name == "height" }
      height?.valueExpression = NSExpression(format: "$source.name")
    }
    #expect(error.code == NSMigrationError)
    #expect(error.userInfo["property"] as? String == "height")
    #expect(error.localizedDescription.contains("height can't be set to a value of type String"))
  }

  @Test("An expression that can't be evaluated is shown")
  func badExpressionIsAnError() throws {
    let error = try failure { mapping in
      let name = person(mapping)?.attributeMappings?.first { $0.name == "name" }
      name?.valueExpression = NSExpression(format: "FUNCTION($manager, 'nameOf:', $source.name)")
    }
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("nameOf:"))
    #expect(error.userInfo["entity"] as? String == "Person")
  }

  @Test("Missing values and too few destinations are validation errors of the third pass")
  func rulesAreCheckedAtTheEnd() throws {
    let model = Sample.model { person, city in
      Sample.replace(
        "age", of: person,
        by: Sample.attribute("age", .integer16AttributeType, isOptional: false))
      person.relationshipsByName["home"]?.isOptional = false
    }
    let mapping = NSMappingModel()
    let error = try failure(to: model) { mapping.entityMappings = $0.entityMappings }
    #expect(error.code == NSValidationMultipleErrorsError)
    let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
    // Bo has neither an age nor a home, and Cy has no home.
    #expect(details.count == 3)
    #expect(details.allSatisfy { $0.code == NSValidationMissingMandatoryPropertyError })
  }

  @Test("A number of destinations that the model doesn't allow is a validation error")
  func countsAreCheckedAtTheEnd() throws {
    // London has one resident.
    let few = Sample.model { _, city in city.relationshipsByName["residents"]?.minCount = 2 }
    let error = try failure(to: few)
    #expect(error.code == NSValidationRelationshipLacksMinimumCountError)
    #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "residents")
  }

  @Test("The rules are checked when all mapping models of a step have been used")
  func partsAreCheckedTogether() throws {
    let model = Sample.model { person, city in
      person.relationshipsByName["home"]?.isOptional = false
      city.relationshipsByName["residents"]?.isOptional = false
    }
    let store = try Sample.store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("DELETE FROM ZPERSON WHERE ZHOME IS NULL")
    connection.close()
    let whole = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    // Relationships to instances of a later part are set by their inverses.
    let parts = ["Person", "City"].map { name in
      let part = NSMappingModel()
      part.entityMappings = whole.entityMappings.filter { $0.sourceEntityName == name }
      return part
    }
    try MappedMigration(
      url: store.url, source: Sample.model(), destination: model, mappings: parts,
      configuration: nil, options: nil
    ).run()
    #expect(try store.values("SELECT count(ZHOME) FROM ZPERSON") == [[.integer(1)]])
  }

  @Test("Values that violate a new uniqueness constraint are error 134111")
  func duplicatesAreAnError() throws {
    let model = Sample.model { person, _ in
      person.properties.append(
        Sample.attribute("kind", .stringAttributeType, default: "person"))
      person.uniquenessConstraints = [["kind"]]
    }
    let error = try failure(to: model)
    #expect(error.code == NSMigrationConstraintViolationError)
    #expect(error.localizedDescription.contains("kind"))
  }

  @Test("A policy class that doesn't exist is error 134170")
  func missingPolicyIsAnError() throws {
    let error = try failure { person($0)?.entityMigrationPolicyClassName = "App.NoPolicy" }
    #expect(error.code == NSEntityMigrationPolicyError)
    #expect(error.localizedDescription.contains("registerClass(named: \"App.NoPolicy\")"))
  }

  @Test("An instance of an abstract entity can't be created")
  func abstractDestinationIsAnError() throws {
    let (source, destination) = (try Sample.store(), try MigratedStore())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: Sample.model())
    for entity in mapping.entityMappings ?? [] { entity.destinationEntityVersionHash = nil }
    let manager = NSMigrationManager(
      sourceModel: Sample.model(),
      destinationModel: Sample.model { person, _ in person.isAbstract = true })
    let error = thrownError {
      try manager.migrateStore(
        from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    }
    #expect(error?.code == NSMigrationError)
    #expect(error?.localizedDescription.contains("an instance of Person for one of Person") == true)
    #expect(try destination.contents().isEmpty)
  }

  @Test("A source that doesn't have the source model is error 134150")
  func otherSourceIsAnError() throws {
    let other = Sample.model { person, _ in
      person.properties.append(Sample.attribute("height", .doubleAttributeType))
    }
    #expect(try failure(from: other).code == NSMigrationManagerSourceStoreError)
  }

  @Test("A destination of another model is error 134160, and unchanged")
  func otherDestinationIsAnError() throws {
    let model = Sample.model { person, _ in
      person.properties.append(Sample.attribute("height", .doubleAttributeType))
    }
    let (source, destination) = (try Sample.store(), try Sample.store())
    let bytes = try destination.contents()
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: model)
    let manager = NSMigrationManager(sourceModel: Sample.model(), destinationModel: model)
    for url in [destination.url, source.url] {
      let error = thrownError {
        try manager.migrateStore(
          from: source.url, type: .sqlite, mapping: mapping, to: url, type: .sqlite)
      }
      #expect(error?.code == NSMigrationManagerDestinationStoreError)
    }
    #expect(try destination.contents() == bytes)
  }

  @Test("A mapping model for another version is refused before a file is created")
  func otherMappingModelIsAnError() throws {
    let error = try failure { person($0)?.destinationEntityName = "Persn" }
    #expect(error.code == NSMigrationError)
    #expect(error.localizedDescription.contains("Did you mean Person?"))
  }

  @Test("Mappings of different entities must have different names")
  func sharedNamesAreAnError() throws {
    let error = try failure { mapping in
      for mapping in mapping.entityMappings { mapping.name = "" }
    }
    #expect(error.code == NSMigrationError)
    #expect(
      error.localizedDescription.contains(
        "of City to City and of Person to Person, have the name ''"))
  }
}
