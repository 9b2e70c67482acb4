import OpenCoreData
import Testing

@Suite("Changes of relationships whose other side was read earlier")
struct OutdatedSideTests {
  /// What the second context does before its save.
  enum Step: CaseIterable {
    case nothing
    case merge
    case refresh
  }

  private static let relationships = [
    (owner: "Person", key: "children", destination: "Person", inverse: "parent"),
    (owner: "List", key: "songs", destination: "Song", inverse: "list"),
    (owner: "Person", key: "spouse", destination: "Person", inverse: "spouseOf"),
  ]

  /// Reads an object in a context, before another one sets or clears its to-one relationship; then
  /// has the first undo that in the owner's relationship, which it reads only now.
  ///
  /// - Parameters:
  ///   - adds: Whether the change at the owner adds the object, instead of removing it.
  ///   - expected: Whether both sides refer to each other afterward, in the context and the store.
  private func change(
    _ kind: StoreKind, _ policy: NSMergePolicyType, _ step: Step, adds: Bool,
    expecting expected: Bool
  ) throws {
    let stack = try SharedStack(kind, KinshipModel.make())
    for (entity, key, destination, inverse) in Self.relationships {
      let (first, second) = (stack.context(), stack.context(NSMergePolicy(merge: policy)))
      try first.performAndWait {
        let owner = first.make(entity, ["name": "\(key), owner"])
        let object = first.make(destination, ["name": "\(key), object"])
        if adds { object.setValue(owner, forKey: inverse) }
        try first.save()
        try second.performAndWait {
          let (theirOwner, theirs) = (second.twin(of: owner), second.twin(of: object))
          #expect(theirs.one(inverse) === (adds ? theirOwner : nil))
          object.setValue(adds ? nil : owner, forKey: inverse)
          let saves = NoteList(first, .NSManagedObjectContextDidSave)
          try first.save()
          #expect(theirOwner.refers(to: theirs, key) != adds)
          theirOwner.put(adds ? [theirs] : [], key)
          switch step {
          case .nothing: break
          case .merge: try second.mergeChanges(fromContextDidSave: #require(saves.notes.last))
          case .refresh: second.refresh(theirs, mergeChanges: true)
          }
          try second.save()
          #expect(theirOwner.refers(to: theirs, key) == expected, "\(key)")
          #expect(theirs.refers(to: theirOwner, inverse) == expected, "\(key)")
        }
      }
      // A file is read again: the row cache may differ from it.
      let third = kind == .sqlite ? try stack.foreignContext() : stack.context()
      try third.performAndWait {
        let owner = try #require(third.all(entity).first { $0.nameValue == "\(key), owner" })
        let object = try #require(third.all(destination).first { $0.nameValue == "\(key), object" })
        #expect(owner.refers(to: object, key) == expected, "\(key)")
        #expect(object.refers(to: owner, inverse) == expected, "\(key)")
      }
    }
  }

  @Test(
    "A removal or an addition at the side with the newer row is saved",
    arguments: StoreKind.allCases, Step.allCases)
  func changesOfTheNewerSideAreSaved(kind: StoreKind, step: Step) throws {
    var policies: [NSMergePolicyType] = [
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ]
    if step != .nothing { policies.append(.errorMergePolicyType) }
    for policy in policies {
      for adds in [false, true] {
        try change(kind, policy, step, adds: adds, expecting: adds)
      }
    }
  }

  @Test(
    "A merge policy that discards the change of the older side discards it at both sides",
    arguments: StoreKind.allCases,
    [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType])
  func changesAreDiscardedAtBothSides(kind: StoreKind, policy: NSMergePolicyType) throws {
    for adds in [false, true] {
      try change(kind, policy, .nothing, adds: adds, expecting: !adds)
    }
  }
}

extension NSManagedObject {
  /// Returns whether a relationship contains an object.
  fileprivate func refers(to object: NSManagedObject, _ key: String) -> Bool {
    isToMany(key) ? set(key).contains(object) : one(key) === object
  }

  /// Sets a relationship, which is to-one or to-many.
  fileprivate func put(_ objects: [NSManagedObject], _ key: String) {
    setValue(isToMany(key) ? objects : objects.first, forKey: key)
  }

  private func isToMany(_ key: String) -> Bool {
    entity.relationshipsByName[key]?.isToMany == true
  }
}
