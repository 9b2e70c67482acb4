import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

extension RandomWalk {
  func checkAll() {
    for serial in current.objects.keys.sorted() {
      check(object(serial), serial, against: current)
    }
    let inserted = Set(context.insertedObjects.map { serial($0) })
    let expected = Set(current.objects.keys).subtracting(ids.keys)
    #expect(inserted == expected, comment)
  }

  func checkOne() {
    guard let serial = serial() else { return }
    let key = ["serial", "number", "name"][int(3)]
    let found = ReferenceStore.AttributeValue(object(serial).value(forKey: key))
    #expect(found == current.objects[serial]?.attributes[key], comment)
    guard let expected = current.objects[serial] else { return }
    let link = WorkshopModel.Link.all[int(WorkshopModel.Link.all.count)]
    for inverse in [false, true] where expected.root == (inverse ? link.destination : link.source) {
      check(link, inverse: inverse, of: object(serial), serial, against: current)
    }
  }

  func check(_ context: NSManagedObjectContext, against state: ReferenceStore) throws {
    let all = try workshop(in: context)
    #expect(Set(all.keys) == Set(state.objects.keys), comment)
    for (serial, object) in all { check(object, serial, against: state) }
  }

  private func check(_ object: NSManagedObject, _ serial: Int, against state: ReferenceStore) {
    guard let expected = state.objects[serial] else { return }
    #expect(object.entity.name == expected.entity, comment)
    for name in object.entity.attributesByName.keys {
      let found = ReferenceStore.AttributeValue(object.value(forKey: name))
      #expect(found == expected.attributes[name], "\(serial).\(name), \(comment.rawValue)")
    }
    for link in WorkshopModel.Link.all {
      for inverse in [false, true] where expected.root == (inverse ? link.destination : link.source)
      {
        check(link, inverse: inverse, of: object, serial, against: state)
      }
    }
  }

  private func check(
    _ link: WorkshopModel.Link, inverse: Bool, of object: NSManagedObject, _ serial: Int,
    against state: ReferenceStore
  ) {
    let name = inverse ? link.inverse : link.name
    let found: Set<Int>
    switch object.value(forKey: name) {
    case let one as NSManagedObject: found = [self.serial(one)]
    case let many as Set<NSManagedObject>: found = Set(many.map { self.serial($0) })
    default: found = []
    }
    #expect(
      found == state.related(serial, link, inverse: inverse),
      "\(serial).\(name), \(comment.rawValue)")
  }

  /// Fetches with random options; the result is what a save and a fetch would give.
  func fetch() throws {
    let entity = ["Worker", "Person", "Team", "Gadget", "Tag"][int(5)]
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
    let bound = int(2) == 0 ? Int64(int(5)) : nil
    if let bound { request.predicate = NSPredicate(format: "number >= %@", NSNumber(value: bound)) }
    request.includesPropertyValues = int(3) > 0
    request.returnsObjectsAsFaults = int(2) == 0
    request.shouldRefreshRefetchedObjects = int(3) == 0
    request.fetchBatchSize = [0, 0, 2][int(3)]
    if entity == "Worker", int(2) == 0 {
      request.relationshipKeyPathsForPrefetching =
        [["team"], ["boss.tags", "gadgets"], ["minions", "pupil"]][int(3)]
    }
    let limit = context.hasChanges ? 0 : [0, 3][int(2)]
    request.fetchLimit = limit
    log.append("fetch \(entity)")
    var expected = current.objects.filter { _, object in
      guard object.entity == entity || object.root == entity else { return false }
      guard let bound else { return true }
      if case .integer(let number)? = object.attributes["number"] { return number >= bound }
      return false
    }.keys.sorted()
    if limit > 0 { expected = Array(expected.prefix(limit)) }
    let found = try context.fetch(request)
    #expect(found.map { serial($0) } == expected, comment)
    #expect(try context.count(for: request) == expected.count, comment)
    for object in found where int(2) == 0 { held[serial(object)] = object }
  }

  /// Between blocks, nothing is cached but for registered objects, and counters are what events say.
  func checkRest() {
    context.performAndWait {
      var registered = 0
      for context in [context, other] {
        _ = context.registeredObjects
        context.registry.forEach { if $0.primaryKey > 0 { registered += 1 } }
      }
      if let store = context.coordinator?.firstStore {
        let prefetched = context.registeredObjects.contains { $0.prefetched != nil }
        let owners = store.withShared { $0.rows.ownerCount }
        if !prefetched { #expect(owners == registered, comment) }
      }
      let counters = context.counters
      #expect(counters == derivedCounters(), comment)
    }
  }

  private func derivedCounters() -> Counters {
    var counters = Counters()
    for event in events.events where event.context == "main" {
      switch event.kind {
      case .fetch: counters.fetches += 1
      case .save: counters.saves += 1
      case .prefetch: counters.prefetches += 1
      case .transaction: counters.transactions += 1
      case .objectFault where event.source == .rowCache: counters.objectFaultHits += 1
      case .objectFault: counters.objectFaultMisses += 1
      case .relationshipFault where event.source == .rowCache: counters.relationshipFaultHits += 1
      case .relationshipFault: counters.relationshipFaultMisses += 1
      case .statement:
        switch event.statement?.kind {
        case .select:
          counters.selects += 1
          counters.rows += event.rows
        case .insert: counters.inserts += 1
        case .update: counters.updates += 1
        case .delete: counters.deletes += 1
        default: break
        }
      default: break
      }
    }
    return counters
  }
}
