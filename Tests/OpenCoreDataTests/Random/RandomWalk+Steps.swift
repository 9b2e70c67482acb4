import OpenCoreData
import Testing

@testable import OpenCoreData

extension RandomWalk {
  func step() throws {
    switch int(20) {
    case 0...2: insert()
    case 3...4: setAttribute()
    case 5...9: relate()
    case 10: delete()
    case 11: try save()
    case 12: try refresh()
    case 13...14: try fetch()
    case 15: letGo()
    case 16: rollbackOrReset()
    case 17: try writeElsewhere(isForeign: false)
    case 18: try writeElsewhere(isForeign: true)
    default: context.processPendingChanges()
    }
  }

  private func insert() {
    let entity = ["Person", "Robot", "Team", "Gadget", "Tag"][int(5)]
    lastSerial += 1
    log.append("insert \(entity) \(lastSerial)")
    let object = context.make(entity, ["serial": Int64(lastSerial)])
    held[lastSerial] = object
    current.objects[lastSerial] = .init(
      entity: entity, attributes: ["serial": .integer(Int64(lastSerial))])
  }

  private func setAttribute() {
    guard let serial = serial(), let entity = current.objects[serial]?.entity else { return }
    var choices: [(String, ReferenceStore.AttributeValue?)] = [
      ("number", .integer(Int64(int(5)))), ("name", .text(["", "Ä", "x"][int(3)])), ("name", nil),
    ]
    if entity == "Person" { choices.append(("birthday", .date(Double(int(9)) / 4))) }
    if entity == "Robot" {
      choices.append(("firmware", .bytes([UInt8](repeating: 7, count: int(400)))))
    }
    let (key, value) = choices[int(choices.count)]
    log.append("set \(serial).\(key)")
    object(serial).setValue(value?.managed, forKey: key)
    current.objects[serial]?.attributes[key] = value
  }

  private func relate() {
    let link = WorkshopModel.Link.all[int(WorkshopModel.Link.all.count)]
    let inverse = int(2) == 0
    let (from, to) = inverse ? (link.destination, link.source) : (link.source, link.destination)
    guard let serial = serial(of: from) else { return }
    let name = inverse ? link.inverse : link.name
    var targets: Set<Int> = []
    if inverse ? link.isInverseToMany : link.isToMany {
      for _ in 0..<int(4) { if let target = self.serial(of: to) { targets.insert(target) } }
      log.append("relate \(serial).\(name) = \(targets.sorted())")
      object(serial).setValue(Set(targets.map { object($0) }), forKey: name)
    } else {
      if int(3) > 0, let target = self.serial(of: to) { targets = [target] }
      log.append("relate \(serial).\(name) = \(targets.sorted())")
      object(serial).setValue(targets.first.map { object($0) }, forKey: name)
    }
    current.relate(serial, link, inverse: inverse, to: targets)
  }

  private func delete() {
    guard let serial = serial() else { return }
    log.append("delete \(serial)")
    context.delete(object(serial))
    context.processPendingChanges()
    current.delete(serial)
    for key in held.keys where current.objects[key] == nil { held[key] = nil }
  }

  private func save() throws {
    log.append("save")
    try context.save()
    saved = current
    for (serial, object) in held { ids[serial] = object.objectID }
    #expect(!context.hasChanges, comment)
  }

  private func refresh() throws {
    guard let serial = serial() else { return }
    let object = object(serial)
    switch int(3) {
    case 0:
      log.append("refresh all")
      context.refreshAllObjects()
    case 1:
      log.append("refresh \(serial) merging")
      context.refresh(object, mergeChanges: true)
    default:
      guard !object.hasChanges else { return }
      log.append("refresh \(serial)")
      context.refresh(object, mergeChanges: false)
      #expect(object.isFault, comment)
    }
  }

  private func letGo() {
    log.append("let go")
    for serial in held.keys.sorted() where ids[serial] != nil && int(2) == 0 { held[serial] = nil }
    _ = context.registeredObjects
  }

  private func rollbackOrReset() {
    if int(2) == 0 {
      log.append("rollback")
      context.rollback()
    } else {
      log.append("reset")
      context.reset()
      held = [:]
    }
    current = saved
    for serial in held.keys where current.objects[serial] == nil { held[serial] = nil }
  }

  /// Another context, or another stack, changes what is saved; this context then reads it anew.
  private func writeElsewhere(isForeign: Bool) throws {
    guard !context.hasChanges, !saved.objects.isEmpty else { return }
    let writer = isForeign ? try stack.coldContext() : other
    let serial = saved.objects.keys.sorted()[int(saved.objects.count)]
    let team = saved.objects.filter { $0.value.entity == "Team" }.keys.sorted()
      .randomElement(using: &random)
    let tags = saved.objects.filter { $0.value.entity == "Tag" && int(2) == 0 }.keys
    let isWorker = saved.objects[serial]?.root == "Worker"
    let deletes = int(4) == 0
    log.append(
      (isForeign ? "foreign" : "other") + (deletes ? " delete \(serial)" : " set \(serial)"))
    try writer.performAndWait {
      let all = try workshop(in: writer)
      let object = try #require(all[serial], comment)
      if deletes {
        writer.delete(object)
      } else {
        object.setValue(Int64(77), forKey: "number")
        if isWorker {
          object.setValue(team.flatMap { all[$0] }, forKey: "team")
          object.setValue(Set(tags.compactMap { all[$0] }), forKey: "tags")
        }
      }
      try writer.save()
      writer.reset()
    }
    if deletes {
      current.delete(serial)
    } else {
      current.objects[serial]?.attributes["number"] = .integer(77)
      if isWorker {
        current.relate(
          serial, WorkshopModel.Link.all[2], inverse: false, to: Set([team].compactMap { $0 }))
        current.relate(serial, WorkshopModel.Link.all[4], inverse: false, to: Set(tags))
      }
    }
    saved = current
    for key in held.keys where current.objects[key] == nil { held[key] = nil }
    // A save through the same coordinator is in the row cache; another's has to be fetched.
    if isForeign { _ = try workshop(in: context) }
    context.refreshAllObjects()
  }

  /// Every object of a context, by serial.
  func workshop(in context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
    var result: [Int: NSManagedObject] = [:]
    for entity in ["Worker", "Team", "Gadget", "Tag"] {
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
        result[serial(object)] = object
      }
    }
    return result
  }
}
