import OpenCoreData
import ProfileEvents

/// A coordinator over two empty stores of employees and departments.
final class TwoStores {
  /// The kinds of the two stores.
  enum Pair: CaseIterable, Sendable {
    case files, memories, fileAndMemory

    var kinds: [StoreKind] {
      switch self {
      case .files: [.sqlite, .sqlite]
      case .memories: [.memory, .memory]
      case .fileAndMemory: [.sqlite, .memory]
      }
    }

    /// The number of stores that run statements.
    var files: Int { kinds.count { $0 == .sqlite } }
  }

  let coordinator: NSPersistentStoreCoordinator
  let stores: [NSPersistentStore]
  let events = EventList()
  private let files: TestStack

  /// - Parameter configurations: Those of the stores, such as the model's `Staff` and `Places`.
  init(
    _ pair: Pair, configurations: [String?] = [nil, nil], options: [AnyHashable: Any]? = nil
  ) throws {
    let model = TwoStores.model()
    files = try TestStack(model: model)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    coordinator.eventHub.add(events)
    var stores: [NSPersistentStore] = []
    for (number, kind) in pair.kinds.enumerated() {
      let isFile = kind == .sqlite
      stores.append(
        try coordinator.addPersistentStore(
          ofType: isFile ? NSSQLiteStoreType : NSInMemoryStoreType,
          configurationName: configurations[number],
          at: isFile ? files.folder.appendingPathComponent("\(number).sqlite") : nil,
          options: options))
    }
    self.stores = stores
  }

  /// The company, with a configuration for each entity, and notes in both.
  private static func model() -> NSManagedObjectModel {
    let model = TestModels.company()
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [TestModels.attribute("text", .stringAttributeType)]
    let urgent = NSEntityDescription()
    urgent.name = "UrgentNote"
    urgent.properties = [TestModels.attribute("rank", .integer16AttributeType)]
    note.subentities = [urgent]
    model.entities += [note, urgent]
    let entities = model.entitiesByName
    let notes = [entities["Note"], entities["UrgentNote"]].compactMap { $0 }
    for (name, own) in [("Staff", "Employee"), ("Places", "Department")] {
      model.setEntities([entities[own]].compactMap { $0 } + notes, forConfigurationName: name)
    }
    return model
  }

  func context(_ policy: NSMergePolicy = .error) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    return context
  }

  /// Saves employees in both stores: even numbers in the first, odd ones in the second.
  func addEmployees(_ count: Int) throws {
    let context = context()
    try context.performAndWait {
      for number in 0..<count {
        let employee = context.make("Employee", ["name": String(format: "e%02d", number)])
        let department = context.make("Department", ["name": "d\(number)"])
        context.assign(employee, to: stores[number % 2])
        context.assign(department, to: stores[number % 2])
        employee.setValue(department, forKey: "department")
      }
      try context.save()
    }
  }

  /// A request for employees, sorted by name.
  static func request(
    _ configure: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    configure(request)
    return request
  }
}

extension NSManagedObject {
  /// The value of the key `name`.
  var nameValue: String? { value(forKey: "name") as? String }
}
