import OpenCoreData

@testable import OpenCoreData

extension RandomWalk {
  /// The number of objects from which no more are inserted.
  private static let maximumObjects = 24

  func step() throws {
    switch int(24) {
    case 0...9: change()
    case 10...11: try save()
    case 12: refresh()
    case 13...14: try fetch()
    case 15: releaseObjects()
    case 16: rollbackOrReset()
    case 17...18: merge()
    case 19: try undo()
    case 20...21: try fault()
    case 22: try lookUp()
    default: try count()
    }
  }

  /// Makes one random change.
  func change() {
    switch int(10) {
    case 0...1 where reference.living().count < RandomWalk.maximumObjects: insert()
    case 0...1, 2: delete()
    case 3...5: setAttribute()
    default: relate()
    }
  }

  private func insert() {
    let entity = ["Person", "Robot", "Team", "Gadget", "Tag"][int(5)]
    lastSerial += 1
    log.append("insert \(entity) \(lastSerial)")
    let object = context.make(entity, ["serial": Int64(lastSerial)])
    here.retained[lastSerial] = object
    serials[RowName(object)] = lastSerial
    reference.insert(lastSerial, entity)
  }

  private func setAttribute() {
    guard let serial = living(), let entity = store.entities[serial] else { return }
    var choices: [(String, AttributeValue?)] = [
      ("number", .integer(Int64(int(5)))), ("name", .text(["", "Ä", "x"][int(3)])), ("name", nil),
    ]
    if entity == "Person" { choices.append(("birthday", .date(Double(int(9)) / 4))) }
    if entity == "Robot" {
      choices.append(("firmware", .bytes([UInt8](repeating: 7, count: int(40)))))
    }
    let (key, value) = choices[int(choices.count)]
    log.append("set \(serial).\(key)")
    object(serial).setValue(value?.managed, forKey: key)
    reference.set(key, value, of: serial)
  }

  private func relate() {
    let sides = WorkshopModel.sides.keys.sorted()
    guard let side = WorkshopModel.sides[sides[int(sides.count)]], let serial = living(side.owner)
    else { return }
    if side.isToMany {
      var targets: Set<Int> = []
      for _ in 0..<int(4) { if let target = living(side.destination) { targets.insert(target) } }
      log.append("relate \(serial).\(side.name) = \(targets.sorted())")
      object(serial).setValue(Set(targets.map { object($0) }), forKey: side.name)
      reference.set(side, targets, of: serial)
    } else {
      let target = int(3) > 0 ? living(side.destination) : nil
      log.append("relate \(serial).\(side.name) = \(target.map(String.init) ?? "nil")")
      object(serial).setValue(target.map { object($0) }, forKey: side.name)
      reference.set(side, target, of: serial)
    }
  }

  private func delete() {
    guard let serial = living() else { return }
    log.append("delete \(serial)")
    context.delete(object(serial))
    reference.delete(serial)
    process()
  }

  /// Propagates deletions, and releases deregistered objects.
  func process() {
    context.processPendingChanges()
    reference.process()
    here.retained = here.retained.filter { $0.value.managedObjectContext != nil }
  }

  // MARK: Reading again

  private func refresh() {
    if int(4) == 0 {
      log.append("refresh all")
      context.refreshAllObjects()
      for serial in reference.objects.keys { reference.refresh(serial, merging: true) }
      return
    }
    guard let serial = living() else { return }
    let state = reference[serial]
    let isLinked = !state.changes.toOne.isEmpty || state.toMany.values.contains(where: \.hasChanges)
    let merging = isLinked || int(2) == 0
    log.append("refresh \(serial)\(merging ? " merging" : "")")
    context.refresh(object(serial), mergeChanges: merging)
    reference.refresh(serial, merging: merging)
  }

  private func rollbackOrReset() {
    if int(3) > 0 {
      rollback()
    } else {
      log.append("reset")
      here.retained = [:]
      here.left = []
      context.reset()
      reference.objects = [:]
    }
  }

  /// Releases some unchanged objects, which the context can then deregister.
  private func releaseObjects() {
    log.append("release")
    let candidates = here.retained.keys.sorted().filter {
      reference.objects[$0]?.hasChanges == false
    }
    for serial in candidates where int(2) == 0 { here.retained[serial] = nil }
    _ = context.registeredObjects
    var registered: Set<Int> = []
    context.registry.forEach { registered.insert(serial($0)) }
    for serial in reference.objects.keys where !registered.contains(serial) {
      reference.objects[serial] = nil
    }
  }

  // MARK: Undo

  /// Makes some changes, undoes them group by group, and sometimes redoes them.
  private func undo() throws {
    guard let manager = context.undoManager else { return }
    process()
    manager.removeAllActions()
    /// The states before each group and after the last.
    var states = [reference.objects]
    func noteGroup() {
      adoptRegistered()
      if manager.undoCount == states.count { states.append(reference.objects) }
    }
    log.append("{")
    for _ in 0...int(3) {
      change()
      noteGroup()
      if int(2) == 0 { process() }
      noteGroup()
    }
    process()
    noteGroup()
    log.append("}")
    for index in states.indices.dropLast().reversed() {
      log.append("undo")
      context.undo()
      reference.restore(states[index], after: states[index + 1])
      try compareUndone()
    }
    try expect(manager.canUndo, false, "canUndo")
    guard int(2) == 0 else { return manager.removeAllActions() }
    for index in states.indices.dropFirst() {
      log.append("redo")
      context.redo()
      reference.restore(states[index], after: states[index - 1])
      try compareUndone()
    }
    manager.removeAllActions()
  }

  private func compareUndone() throws {
    here.retained = here.retained.filter { $0.value.managedObjectContext != nil }
    adoptRegistered()
    try compare()
  }
}
