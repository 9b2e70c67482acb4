import CoreDataCosts
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Checks of migrations with several mapping models in a step")
struct MappedStepCheckTests {
  private typealias Sample = LightweightMigrationTests

  /// Moods and tags, each with a code and a note; only moods are in the configuration.
  private static func model(
    _ configuration: String?, _ more: String...
  ) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = ["Mood", "Tag"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = (["code", "note"] + more).map {
        Sample.attribute($0, .stringAttributeType)
      }
      return entity
    }
    if let configuration {
      let moods = model.entities.filter { $0.name == "Mood" }
      model.setEntities(moods, forConfigurationName: configuration)
    }
    return model
  }

  /// The text of a mapping model that copies the codes of an entity, and no notes.
  private static func mapping(of entity: String) -> String {
    func relationship(_ name: String, _ isToMany: Bool, _ destination: String, _ id: String)
      -> String
    {
      "<relationship name=\"\(name)\" type=\"\(isToMany ? "0/0" : "1/1")\" "
        + "destination=\"\(destination)\" idrefs=\"\(id)\"></relationship>"
    }
    func attribute(_ name: String, _ type: String, _ value: String) -> String {
      "<attribute name=\"\(name)\" type=\"\(type)\">\(value)</attribute>"
    }
    let (model, entities, attributes) = (
      "XDDEVMAPPINGMODEL", "XDDEVENTITYMAPPING", "XDDEVATTRIBUTEMAPPING"
    )
    return "<?xml version=\"1.0\"?><database>"
      + "<object type=\"\(model)\" id=\"z1\">"
      + attribute("sourcemodelpath", "string", "Moods.xcdatamodeld/Moods.xcdatamodel")
      + attribute("destinationmodelpath", "string", "Moods.xcdatamodeld/Moods 2.xcdatamodel")
      + relationship("entitymappings", true, entities, "z2") + "</object>"
      + "<object type=\"\(entities)\" id=\"z2\">" + attribute("sourcename", "string", entity)
      + attribute("mappingtypename", "string", "Undefined")
      + attribute("mappingnumber", "int16", "1")
      + attribute("destinationname", "string", entity)
      + attribute("autogenerateexpression", "bool", "1")
      + relationship("mappingmodel", false, model, "z1")
      + relationship("attributemappings", true, attributes, "z3") + "</object>"
      + "<object type=\"\(attributes)\" id=\"z3\">" + attribute("name", "string", "code")
      + relationship("entitymapping", false, entities, "z2") + "</object></database>"
  }

  @Test(
    "Each of the mapping models of a step migrates a part of the entities, also in a configuration",
    arguments: [nil, "Moods"] as [String?])
  func allMappingModelsAreUsed(configuration: String?) throws {
    let store = try MigratedStore()
    let codes = configuration == nil ? ["Mood": "m1", "Tag": "t1"] : ["Mood": "m1"]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(configuration))
    let opened = try coordinator.addPersistentStore(
      type: .sqlite, configuration: configuration, at: store.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (entity, code) in codes {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(code, forKey: "code")
        object.setValue("a note", forKey: "note")
      }
      try context.save()
    }
    try coordinator.remove(opened)
    let folder = store.url.deletingLastPathComponent()
    func write(_ text: String, _ path: String) throws {
      let url = folder.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    let current = Self.model(configuration, "more")
    for (name, model) in [("Moods", Self.model(configuration)), ("Moods 2", current)] {
      try write(
        ModelDocument.text(of: model).text, "Moods.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    for entity in ["Mood", "Tag"] {
      try write(Self.mapping(of: entity), "\(entity).xcmappingmodel/xcmapping.xml")
    }
    let report = try checkMigrations(
      ofStoresIn: folder, to: current, configuration: configuration,
      versions: folder.appendingPathComponent("Moods.xcdatamodeld"),
      mappingModelsIn: [try #require(Bundle(path: folder.path))], by: .stepByStep,
      matching: MigrationFixture(
        keys: ["Mood": ["code"], "Tag": ["code"]],
        objects: codes.mapValues { [["code": .text($0), "note": .none]] }))
    #expect(report.stores.count == 1)
    #expect(report.passes, "\(report)")
  }

  @Test("An entity that another mapping model of the step maps isn't migrated as its superentity")
  func subentitiesOfOtherPartsAreMigratedOnce() throws {
    func model(_ more: String...) -> NSManagedObjectModel {
      let (model, mood, dream) = (
        NSManagedObjectModel(), NSEntityDescription(), NSEntityDescription()
      )
      (mood.name, dream.name) = ("Mood", "Dream")
      mood.properties = (["code"] + more).map { Sample.attribute($0, .stringAttributeType) }
      mood.subentities = [dream]
      model.entities = [mood, dream]
      return model
    }
    let store = try MigratedStore()
    let context = try store.open(model(), options: nil)
    try context.performAndWait {
      for entity in ["Mood", "Dream"] {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(entity, forKey: "code")
      }
      try context.save()
    }
    for opened in context.persistentStoreCoordinator?.persistentStores ?? [] {
      try context.persistentStoreCoordinator?.remove(opened)
    }
    let whole = try NSMappingModel.inferredMappingModel(
      forSourceModel: model(), destinationModel: model("note"))
    for isReversed in [false, true] {
      let copy = try MigratedStore()
      try StoreFile.copy(from: store.url, to: copy.url)
      let parts = whole.entityMappings.map { mapping in
        let part = NSMappingModel()
        part.entityMappings = [mapping]
        return part
      }
      let step = ProgressiveMigration.Step(
        from: ModelVersion(name: "1", model: model()),
        to: ModelVersion(name: "2", model: model("note")),
        mappingModels: isReversed ? parts.reversed() : parts)
      try step.run(at: copy.url, keepsOldStore: false)
      let rows = "SELECT Z_NAME, ZCODE FROM ZMOOD JOIN Z_PRIMARYKEY USING (Z_ENT) ORDER BY 1"
      #expect(
        try copy.values(rows)
          == [[.text("Dream"), .text("Dream")], [.text("Mood"), .text("Mood")]])
    }
  }
}
