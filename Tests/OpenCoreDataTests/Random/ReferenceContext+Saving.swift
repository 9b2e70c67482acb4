import OpenCoreData

extension ReferenceContext {
  /// The objects that a save wrote.
  struct Note {
    var inserted: Set<Int> = []
    var updated: Set<Int> = []
    var deleted: Set<Int> = []
  }

  /// The objects whose rows have changed since they were read.
  var conflicts: Set<Int> {
    Set(
      objects.lazy.filter { serial, object in
        guard object.isUpdated || object.isDeleted, !object.isMissing else { return false }
        let stored = self.store.records[serial]?.version
        return stored != object.base.version && !(stored == nil && object.isDeleted)
      }.map(\.key))
  }

  /// The objects with a changed to-one relationship to an object that's deleted: one whose inverse
  /// was read later, without this object.
  var dangling: Set<Int> {
    Set(
      objects.lazy.filter { _, object in
        (object.isInserted || object.isUpdated) && !object.isDeleted && !object.isMissing
          && object.changes.toOne.values.contains { destination in
            destination.map { self[$0].isDeleted || self[$0].isMissing } ?? false
          }
      }.map(\.key))
  }

  /// Saves without checking for conflicts.
  func save() -> Note {
    var note = Note()
    for (serial, object) in objects where object.hasChanges {
      if object.isMissing {
        clearMarks(serial)
      } else if object.isDeleted {
        note.deleted.insert(serial)
      } else if object.isInserted {
        note.inserted.insert(serial)
      } else {
        note.updated.insert(serial)
      }
    }
    let written = note.inserted.union(note.updated)
    for serial in written where store.root(serial) == "Tag" {
      guard let links = self[serial].toMany["workers"] else { continue }
      for worker in links.removed { store.remove(.init(worker: worker, tag: serial)) }
      for worker in links.added where !self[worker].isDeleted && !self[worker].isMissing {
        store.add(.init(worker: worker, tag: serial))
      }
    }
    for serial in written {
      fire(serial)
      var record = self[serial].present
      record.version += 1
      store.put(record, serial)
      self[serial].base = record
      self[serial].changes = .init()
      for name in self[serial].toMany.keys { self[serial].toMany[name]?.commit() }
      clearMarks(serial)
    }
    for serial in note.deleted {
      store.delete(serial)
      objects[serial] = nil
    }
    return note
  }

  private func clearMarks(_ serial: Int) {
    self[serial].isInserted = false
    self[serial].isUpdated = false
    self[serial].isDeleted = false
  }

  /// Resolves conflicts of objects that differ only in attributes.
  func resolve(_ policy: NSMergePolicyType) {
    for serial in conflicts {
      guard let stored = store.records[serial] else { continue }
      var object = self[serial]
      switch policy {
      case .overwriteMergePolicyType:
        object.base.version = stored.version
      case .rollbackMergePolicyType:
        object.becomeFault()
      default:
        for (key, value) in object.changes.attributes {
          let there = stored.attributes[key] != object.base.attributes[key]
          let here = value != object.base.attributes[key]
          if !here || there && policy == .mergeByPropertyStoreTrumpMergePolicyType {
            object.changes.attributes[key] = nil
          }
        }
        object.rebase(stored)
      }
      self[serial] = object
    }
  }

  // MARK: Reading again

  func refresh(_ serial: Int, merging: Bool) {
    guard let object = objects[serial], !object.isFault else { return }
    if object.isInserted {
      if !merging {
        self[serial].becomeFault()
        self[serial].isInserted = true
      }
      return
    }
    guard merging, object.hasChanges else { return self[serial].becomeFault() }
    guard !object.isMissing, let record = store.records[serial] else { return }
    if object.isDeleted, object.base.version != record.version { unpropagated.append(serial) }
    self[serial].rebase(record)
    relink(serial, since: object.base)
  }

  /// Updates the inverses of changed to-one relationships that now replace another destination, and
  /// the others whose new destination has removed the object.
  private func relink(_ serial: Int, since base: ReferenceStore.Record) {
    guard !self[serial].isDeleted else { return }
    for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] where !side.isToMany {
      let (stored, earlier) = (self[serial].base.toOne[side.name], base.toOne[side.name])
      guard stored != earlier else { continue }
      guard let present = self[serial].changes.toOne[side.name] else {
        leaveDestination(side, of: serial)
        continue
      }
      guard WorkshopModel.sides[side.inverse]?.isToMany == true else { continue }
      if let stored, stored != present, !self[stored].isDeleted {
        drop(serial, from: stored, side.inverse, isStored: true)
      }
      if let present, self[present].hasChanges {
        change(side.inverse, of: present) { $0.insert(serial, isStored: stored == present) }
      }
    }
  }

  func rollback() {
    for (serial, object) in objects where object.hasChanges {
      if object.isInserted { objects[serial] = nil } else { self[serial].becomeFault() }
    }
  }

  /// Merges a save of another context.
  func merge(_ note: Note) {
    let updated = note.updated.filter { !self[$0].isMissing }.sorted()
    for serial in updated { refresh(serial, merging: true) }
    for serial in updated { settleOneToOne(of: serial) }
    let lost = note.deleted.filter { objects[$0] != nil && !self[$0].isMissing }
    let orphans = discardReferences(to: lost)
    var outdated: Set<Int> = []
    for serial in lost where !self[serial].isFault {
      for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] {
        let known = known(side, of: serial).subtracting(lost)
        outdated.formUnion(known.filter { hasSavedReference($0, to: serial, side.inverse) })
      }
    }
    for serial in lost {
      self[serial] = ReferenceObject()
      self[serial].isFault = false
      self[serial].isMissing = true
    }
    for serial in outdated { refresh(serial, merging: true) }
    for serial in orphans { delete(serial) }
    process()
  }

  /// Discards the unsaved references to objects whose deletion is merged; returns the new objects
  /// to delete with them.
  private func discardReferences(to lost: Set<Int>) -> Set<Int> {
    var orphans: Set<Int> = []
    for (serial, object) in objects
    where (object.isInserted || object.isUpdated) && !object.isDeleted && !object.isMissing
      && !lost.contains(serial)
    {
      for side in WorkshopModel.sidesOfRoots[store.root(serial)] ?? [] {
        let changed =
          side.isToMany
          ? toMany(side.name, of: serial).added
          : Set([object.changes.toOne[side.name] ?? nil].compactMap { $0 })
        let gone = changed.intersection(lost)
        if gone.isEmpty { continue }
        if object.isInserted, WorkshopModel.sides[side.inverse]?.cascades == true {
          orphans.insert(serial)
          continue
        }
        noteChange(serial)
        if side.isToMany {
          change(side.name, of: serial) { value in
            for other in gone {
              value.remove(other, isStored: false)
              value.committed?.remove(other)
            }
          }
        } else {
          self[serial].changes.toOne.updateValue(nil, forKey: side.name)
        }
      }
    }
    return orphans
  }

  /// The destinations of an object that are known without reading, except deleted ones.
  private func known(_ side: WorkshopModel.Side, of serial: Int) -> Set<Int> {
    let value = toMany(side.name, of: serial)
    let found =
      side.isToMany
      ? value.shown ?? value.added
      : Set([self[serial].present.toOne[side.name]].compactMap { $0 })
    return found.filter { !self[$0].isDeleted && !self[$0].isMissing }
  }

  /// Whether a value that was read, and wasn't changed since, refers to an object.
  private func hasSavedReference(_ serial: Int, to other: Int, _ name: String) -> Bool {
    let object = self[serial]
    guard !object.isFault else { return false }
    guard WorkshopModel.sides[name]?.isToMany == true else {
      return object.changes.toOne[name] == nil && object.base.toOne[name] == other
    }
    let value = toMany(name, of: serial)
    return value.shown?.contains(other) == true && !value.added.contains(other)
  }

  // MARK: Undo

  /// Restores values and change state; what was read since remains read.
  func restore(_ state: [Int: ReferenceObject], after present: [Int: ReferenceObject]) {
    let removed = Set(present.filter { $0.value.isInserted && state[$0.key] == nil }.keys)
    for serial in removed { objects[serial] = nil }
    for serial in Set(objects.keys).union(state.keys) where !removed.contains(serial) {
      let then = state[serial] ?? ReferenceObject()
      guard var object = objects[serial], !then.isInserted || object.isInserted else {
        objects[serial] = then
        // Its deletion has fired it.
        if then.isInserted { self[serial].isFault = false }
        continue
      }
      guard !object.isMissing else { continue }
      let wasUpdated = object.isUpdated
      object.isInserted = then.isInserted
      object.isDeleted = then.isDeleted
      object.changes = then.changes
      for name in object.toMany.keys {
        object.toMany[name]?.added = then.toMany[name]?.added ?? []
        object.toMany[name]?.removed = then.toMany[name]?.removed ?? []
      }
      object.isUpdated = then.isUpdated && (wasUpdated || object.hasPersistentChanges)
      objects[serial] = object
    }
  }
}
