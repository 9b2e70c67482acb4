import CoreDataCosts
import Moody
import OpenCoreData
import Testing

@testable import MoodySync

/// A photo with a name and a rating that the user changes.
final class Photo: NSManagedObject, FetchableEntity, LocallyChangeTracked {
  @Managed("name") var name: String?
  @Managed("rating") var rating: Int64
  @Managed("locallyChangedAttributes") var locallyChangedAttributes: Int64

  static var entityName: String { "Photo" }
  static var trackedAttributes: [String] { ["name", "rating"] }

  override func willSave() {
    super.willSave()
    markChangedAttributes()
  }

  /// The sample's model with photos.
  static func model() -> NSManagedObjectModel {
    registerClass()
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = type == .stringAttributeType
      attribute.defaultValue = type == .stringAttributeType ? nil : 0
      return attribute
    }
    let photo = NSEntityDescription()
    photo.name = "Photo"
    photo.managedObjectClassName = "Photo"
    photo.properties = [
      attribute("name", .stringAttributeType), attribute("rating", .integer64AttributeType),
      attribute(localChangesKey, .integer64AttributeType),
    ]
    let model = MoodyModel.make()
    model.entities.append(photo)
    return model
  }
}

@Suite("Changes per attribute")
struct LocalChangeTests {
  @Test(
    "S9-17 a change in the view context sets the attribute's bit, one in the sync context doesn't")
  func onlyTheViewContextSetsBits() throws {
    let stack = try SyncStack(model: Photo.model())
    let coordinator = stack.coordinator([])
    let id = try stack.view.performAndWait {
      let photo: Photo = stack.view.insertObject()
      photo.name = "Sea"
      let cost = try costs(of: stack.view) { try stack.view.save() }
      #expect(cost.inserts == 1 && cost.updates == 0 && cost.savePasses == 2)
      #expect(photo.isLocallyChanged(forKey: "name") && photo.locallyChangedAttributes == 1)
      return photo.objectID
    }
    try coordinator.syncContext.performAndWait {
      let photo = try #require(try stack.sync.existingObject(with: id) as? Photo)
      photo.rating = 5
      try stack.sync.save()
      #expect(photo.locallyChangedAttributes == 1)
      photo.unmarkAttributeAsLocallyChanged(forKey: "name")
      try stack.sync.save()
      #expect(!photo.isLocallyChanged(forKey: "name"))
      #expect(try Photo.count(in: stack.sync) { $0.predicate = changed("name") } == 0)
    }
    try stack.view.performAndWait {
      let photo = try #require(try stack.view.existingObject(with: id) as? Photo)
      #expect(photo.locallyChangedAttributes == 0 && photo.rating == 5)
      photo.rating = 4
      try stack.view.save()
      #expect(photo.locallyChangedAttributes == 2)
      #expect(try Photo.count(in: stack.view) { $0.predicate = changed("rating") } == 1)
      #expect(try Photo.count(in: stack.view) { $0.predicate = changed("name") } == 0)
    }
  }

  private func changed(_ key: String) -> NSPredicate {
    Photo.locallyChangedPredicate(forKey: key)
  }

  /// Sends one attribute of photos, and clears its bit when the server has answered.
  private final class AttributeProcessor: ElementChangeProcessor {
    let elementsInProgress = InProgressTracker<Photo>()
    let predicateForLocallyTrackedElements: NSPredicate
    private let key: String
    private let log: Log<String>

    init(_ key: String, _ predicate: NSPredicate, _ log: Log<String>) {
      self.key = key
      predicateForLocallyTrackedElements = predicate
      self.log = log
    }

    func setup(for context: any ChangeProcessorContext) {}

    func processChangedLocalElements(
      _ photos: [Photo], in context: any ChangeProcessorContext
    ) {
      log.add(key)
      let ids = photos.map(\.objectID)
      context.remote.removeMoods(
        [key],
        completion: context.perform { [self] (_: [RemoteRecordID], _: RemoteError?) in
          let photos = elements(with: ids, in: context)
          for photo in photos { photo.unmarkAttributeAsLocallyChanged(forKey: key) }
          context.delayedSaveOrRollback()
          didComplete(photos, in: context)
        })
    }

    func processRemoteChanges<Record: RemoteRecord>(
      _ changes: [RemoteRecordChange<Record>], in context: any ChangeProcessorContext,
      completion: @escaping (Bool) -> Void
    ) {
      completion(true)
    }

    func fetchLatestRemoteRecords(
      in context: any ChangeProcessorContext, completion: @escaping (Bool) -> Void
    ) {
      completion(true)
    }
  }

  @Test("S9-18 a processor waits for another to clear its bit")
  func processorsAreChained() throws {
    let stack = try SyncStack(model: Photo.model())
    let log = Log<String>()
    // The rating's processor is first, so that only its predicate makes it wait.
    let rating = AttributeProcessor(
      "rating",
      NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "name != NULL"), Photo.onlyLocallyChangedPredicate(forKey: "rating"),
      ]), log)
    let name = AttributeProcessor("name", Photo.locallyChangedPredicate(forKey: "name"), log)
    try withExtendedLifetime(stack.coordinator([rating, name])) {
      let id = try stack.view.performAndWait {
        let photo: Photo = stack.view.insertObject()
        photo.name = "Sea"
        photo.rating = 5
        try stack.view.save()
        return photo.objectID
      }
      stack.drain()
      #expect(log.values == ["name"])
      try #require(stack.remote.removals.first).answer([], nil)
      eventually("the rating is sent") { log.values.count == 2 }
      #expect(log.values == ["name", "rating"])
      try #require(stack.remote.removals.last).answer([], nil)
      try eventually("both bits are cleared") {
        try stack.view.performAndWait {
          let photo = try stack.view.existingObject(with: id) as? Photo
          return photo?.locallyChangedAttributes == 0
        }
      }
      stack.drain()
      #expect(log.values.count == 2)
    }
  }
}
