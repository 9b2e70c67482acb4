import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@Suite("Kinds of relationships")
struct RelationshipKindTests {
  private func context(_ kind: StoreKind) throws -> (GraphStack, NSManagedObjectContext) {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    return (stack, try stack.context())
  }

  private func people(_ names: String, _ context: NSManagedObjectContext) -> [NSManagedObject] {
    names.map { context.make("Person", ["name": "\($0)"]) }
  }

  @Test(
    "S4.13 two relationships to one entity, one to itself, and a one-to-one are separate",
    arguments: StoreKind.allCases)
  func relationshipsBetweenTheSameEntitiesAreSeparate(kind: StoreKind) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("abc", writer)
      let countries = "xy".map { writer.make("Country", ["name": "\($0)"]) }
      people[0].setValuesForKeys([
        "residentOf": countries[0], "citizenOf": countries[1], "mayorOf": countries[0],
      ])
      people[1].setValuesForKeys(["parent": people[0], "spouse": people[2]])
      people[2].setValue(people[0], forKey: "parent")
      try writer.save()
      people[0].setValue(people[2], forKey: "spouse")
      #expect(people[1].one("spouse") == nil && people[2].one("spouseOf") === people[0])
      people[2].setValue(countries[0], forKey: "mayorOf")
      #expect(people[0].one("mayorOf") == nil && countries[0].one("mayor") === people[2])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let (people, countries) = (try context.all("Person"), try context.all("Country"))
      #expect(countries[0].set("residents") == [people[0]])
      #expect(countries[0].set("citizens").isEmpty && countries[1].set("citizens") == [people[0]])
      #expect(people[0].set("children") == [people[1], people[2]])
      #expect(people[0].one("spouse") === people[2] && people[2].one("spouseOf") === people[0])
      #expect(people[1].one("spouse") == nil && countries[0].one("mayor") === people[2])
    }
  }

  @Test(
    "S-E11 a reflexive many-to-many is consistent on both sides",
    arguments: StoreKind.allCases)
  func reflexiveManyToManyIsConsistentOnBothSides(kind: StoreKind) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("abcd", writer)
      people[0].setValue(Set([people[2], people[3]]), forKey: "reports")
      people[3].mutableSetValue(forKey: "managers").add(people[1])
      try writer.save()
      people[2].mutableSetValue(forKey: "managers").remove(people[0])
      people[2].mutableSetValue(forKey: "managers").add(people[2])
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let people = try context.all("Person")
      #expect(people[0].set("reports") == [people[3]] && people[0].set("managers").isEmpty)
      #expect(people[1].set("reports") == [people[3]])
      #expect(people[2].set("managers") == [people[2]] && people[2].set("reports") == [people[2]])
      #expect(people[3].set("managers") == [people[0], people[1]])
    }
  }

  @Test(
    "adding after removing, and removing after adding, is what remains of a relationship that wasn't read",
    arguments: StoreKind.allCases, ["reports", "managers", "children"])
  func lastChangeOfAnUnreadRelationshipRemains(kind: StoreKind, name: String) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("abc", writer)
      people[0].setValue(Set([people[1]]), forKey: name)
      try writer.save()
    }
    let changing = try stack.context()
    try changing.performAndWait {
      let people = try changing.all("Person")
      let related = people[0].mutableSetValue(forKey: name)
      related.remove(people[2])
      related.add(people[2])
      related.add(people[1])
      related.remove(people[1])
      #expect(people[0].set(name) == [people[2]])
      try changing.save()
      #expect(people[0].set(name) == [people[2]])
    }
    let context = try stack.context()
    try context.performAndWait {
      let people = try context.all("Person")
      #expect(people[0].set(name) == [people[2]])
    }
  }

  @Test(
    "a change of a to-one relationship remains when its stale inverse is refreshed",
    arguments: StoreKind.allCases, [true, false])
  func changeOfAToOneRemainsWhenItsStaleInverseIsRefreshed(kind: StoreKind, isAdded: Bool) throws {
    let bed = try ContextBed(kind, model: KinshipModel.make())
    let (writer, changing) = (bed.context(), bed.context())
    changing.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let written = try writer.performAndWait {
      let people = people("ab", writer)
      people[1].setValue(isAdded ? people[0] : nil, forKey: "parent")
      try writer.save()
      return people
    }
    let (parent, child) = try changing.performAndWait {
      let people = try changing.all("Person")
      #expect(people[0].set("children") == (isAdded ? [people[1]] : []))
      return (people[0], people[1])
    }
    try writer.performAndWait {
      written[1].setValue(isAdded ? nil : written[0], forKey: "parent")
      try writer.save()
    }
    try changing.performAndWait {
      changing.refresh(child, mergeChanges: false)
      child.setValue(isAdded ? parent : nil, forKey: "parent")
      let children: Set = isAdded ? [child] : []
      #expect(parent.set("children") == children)
      changing.refresh(parent, mergeChanges: true)
      #expect(parent.set("children") == children)
      try changing.save()
      #expect(parent.set("children") == children)
    }
  }

  @Test(
    "a change of a many-to-many relationship is saved, whichever of its sides is stale",
    arguments: StoreKind.allCases, [true, false])
  func changeOfAManyToManyIsSavedWithAStaleSide(kind: StoreKind, isAdded: Bool) throws {
    for (name, inverse) in [("reports", "managers"), ("managers", "reports")] {
      let bed = try ContextBed(kind, model: KinshipModel.make())
      let (writer, changing) = (bed.context(), bed.context())
      changing.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let written = try writer.performAndWait {
        let people = people("ab", writer)
        if isAdded { people[0].mutableSetValue(forKey: name).add(people[1]) }
        try writer.save()
        return people
      }
      let (one, other) = try changing.performAndWait {
        let people = try changing.all("Person")
        _ = people[1].set(inverse)
        return (people[0], people[1])
      }
      try writer.performAndWait {
        written[0].setValue(isAdded ? [] : Set([written[1]]), forKey: name)
        try writer.save()
      }
      try changing.performAndWait {
        #expect(other.set(inverse) == (isAdded ? [one] : []))
        changing.refresh(one, mergeChanges: false)
        #expect(one.set(name) == (isAdded ? [] : [other]))
        let set = one.mutableSetValue(forKey: name)
        if isAdded { set.add(other) } else { set.remove(other) }
        try changing.save()
      }
      let reader = bed.context()
      try reader.performAndWait {
        let people = try reader.all("Person")
        #expect(people[0].set(name) == (isAdded ? [people[1]] : []), "\(name)")
        #expect(people[1].set(inverse) == (isAdded ? [people[0]] : []), "\(name)")
      }
    }
  }

  @Test(
    "a to-one relationship that was changed before its object is refreshed is among its inverses' values",
    arguments: StoreKind.allCases)
  func inversesFollowAToOneThatWasChangedBeforeARefresh(kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: KinshipModel.make())
    let (writer, changing) = (bed.context(), bed.context())
    changing.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let written = try writer.performAndWait {
      let people = people("abc", writer)
      people[2].setValue(people[0], forKey: "parent")
      try writer.save()
      return people
    }
    let found = try changing.performAndWait { try changing.all("Person") }
    changing.performAndWait {
      // Set again: the other context moves it in the meantime.
      #expect(found[0].set("children") == [found[2]])
      found[2].setValue(nil, forKey: "parent")
      found[2].setValue(found[0], forKey: "parent")
    }
    try writer.performAndWait {
      written[2].setValue(written[1], forKey: "parent")
      try writer.save()
    }
    try changing.performAndWait {
      for person in found { changing.refresh(person, mergeChanges: true) }
      #expect(found[0].set("children") == [found[2]] && found[1].set("children").isEmpty)
      #expect(changing.updatedObjects.contains(found[1]))
      try changing.save()
      #expect(found[0].set("children") == [found[2]] && found[1].set("children").isEmpty)
    }
    let reading = bed.context()
    try reading.performAndWait {
      let people = try reading.all("Person")
      #expect(people[0].set("children") == [people[2]] && people[1].set("children").isEmpty)
    }
  }

  @Test(
    "S-E13 a join entity has a direction and is deleted with either side",
    arguments: StoreKind.allCases)
  func joinEntityIsDeletedWithEitherSide(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try context.performAndWait {
      let people = people("abc", context)
      func befriend(_ source: Int, _ friend: Int, _ ranking: Int16) {
        _ = context.make(
          "FriendInfo",
          ["source": people[source], "friend": people[friend], "ranking": ranking])
      }
      befriend(0, 1, 5)
      befriend(1, 0, 2)
      befriend(0, 2, 1)
      try context.save()
      let friends = people[0].value(forKeyPath: "friends.friend") as? Set<NSManagedObject>
      #expect(friends == [people[1], people[2]])
      #expect((people[2].value(forKeyPath: "befriendedBy.source") as? NSSet)?.count == 1)
      context.delete(people[1])
      try context.save()
      #expect(try context.all("FriendInfo", by: "ranking").count == 1)
      #expect(people[0].set("friends").count == 1 && people[0].set("befriendedBy").isEmpty)
    }
    let cold = try stack.context()
    try cold.performAndWait {
      let counts = try cold.all("Person").map { $0.set("friends").count }
      #expect(counts == [1, 0])
    }
  }

  @Test("S4.11 only a many-to-many has a join table", .ofOwnStores)
  func onlyManyToManyHasAJoinTable() throws {
    let (stack, context) = try context(.sqlite)
    try context.performAndWait { try context.save() }
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let joins = try connection.values(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'", [])
    // Managers and reports, visited and visitors, tags and lists.
    #expect(joins == [[.integer(3)]])
    let columns = try connection.values(
      "SELECT count(*) FROM pragma_table_info('ZPERSON') WHERE name IN ('ZPARENT', 'ZSPOUSE')", [])
    #expect(columns == [[.integer(2)]])
  }

  @Test(
    "S-E10 a many-to-many has a join row of two keys for each pair, and is read through a join",
    .ofOwnStores)
  func manyToManyHasAJoinRowPerPairAndIsReadThroughAJoin() throws {
    let stack = try TestStack(model: TestModels.library())
    let writer = try stack.coldContext()
    try writer.performAndWait {
      let tags = (0..<3).map { writer.make("Tag", ["name": "\($0)"]) }
      let articles = (0..<2).map { _ in writer.make("Article", ["tags": Set(tags)]) }
      #expect(try costs(of: writer) { try writer.save() }.inserts == 5 + 6)
      articles[0].mutableSetValue(forKey: "tags").remove(tags[0])
      let cost = try costs(of: writer) { try writer.save() }
      #expect(cost.deletes == 1 && cost.inserts == 0)
    }
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let tags = try context.all("Tag")
      #expect(tags.map { $0.set("articles").count } == [1, 2, 2])
    }
    #expect(events.statements(.select).last?.contains(" JOIN ") == true)
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let columns = try connection.values(
      "SELECT count(*) FROM sqlite_master m, pragma_table_info(m.name) "
        + "WHERE m.type = 'table' AND m.name GLOB 'Z_[0-9]*'", [])
    #expect(columns == [[.integer(2)]])
  }

  @Test(
    "S4.09 nullify clears, cascade deletes, deny prevents, no action leaves a dangling reference",
    .ofOwnStores,
    arguments: StoreKind.allCases)
  func deleteRulesClearDeletePreventOrLeaveDanglingReferences(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try context.performAndWait {
      let list = context.make("List", ["name": "l"])
      let song = context.make("Song", ["name": "s", "list": list])
      let tag = context.make("Tag", ["name": "t"])
      list.setValue([tag], forKey: "tags")
      let loose = context.make("Kept", ["name": "k", "looseList": list])
      loose.setValue(list, forKey: "list")
      try context.save()
      context.delete(list)
      context.processPendingChanges()
      #expect(context.deletedObjects == [list, song] && tag.set("lists").isEmpty)
      let cost = costs(of: context) {
        #expect(context.saveError()?.code == NSValidationRelationshipDeniedDeleteError)
      }
      #expect(cost.deletes == 0 && cost.transactions == 0)
      context.rollback()
      #expect(tag.set("lists") == [list] && list.names("songs") == "s")
      loose.setValue(nil, forKey: "list")
      try context.save()
      context.delete(list)
      let deletion = try costs(of: context) { try context.save() }
      // The list, its song, and the join row with its tag.
      #expect(deletion.deletes == stack.statements(3))
    }
    let cold = try stack.context()
    try cold.performAndWait {
      #expect(try cold.all("Song").isEmpty && cold.all("List").isEmpty)
      let loose = try #require(try cold.all("Kept").first)
      let dangling = try #require(loose.one("looseList"))
      #expect(dangling.value(forKey: "name") == nil && dangling.isDeleted)
    }
  }

  @Test(
    "S4.14 S-E09 without an inverse, a deletion leaves a dangling reference", .ofOwnStores,
    arguments: StoreKind.allCases)
  func deletionWithoutInverseLeavesADanglingReference(kind: StoreKind) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("ab", writer)
      people[0].setValue(people[1], forKey: "idol")
      try writer.save()
      writer.delete(people[1])
      let cost = try costs(of: writer) { try writer.save() }
      #expect(cost.updates == 0)
    }
    let context = try stack.context()
    try context.performAndWait {
      let idol = try #require(try context.all("Person").first?.one("idol"))
      #expect(idol.isFault)
      #expect(throws: NSError.self) { try context.existingObject(with: idol.objectID) }
      #expect(idol.value(forKey: "name") == nil && idol.isDeleted)
    }
    guard kind == .sqlite else { return }
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    let rows = try connection.values(
      "SELECT count(*) FROM ZPERSON a LEFT JOIN ZPERSON b ON a.ZIDOL = b.Z_PK "
        + "WHERE a.ZIDOL IS NOT NULL AND b.Z_PK IS NULL", [])
    #expect(rows == [[.integer(1)]])
  }

  @Test(
    "S4.15 S-E20 a set's proxy marks the owner as updated, sets the inverse, and records a change",
    arguments: StoreKind.allCases)
  func setProxyUpdatesTheInverseAndRecordsOneChange(kind: StoreKind) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("abc", writer)
      people[0].setValue(Set([people[1]]), forKey: "children")
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let people = try context.all("Person")
      let children = people[0].mutableSetValue(forKey: "children")
      let cost = costs(of: context) { children.add(people[2]) }
      #expect(cost.selects == 0 && cost.faults == 2 && cost.hits == 2)
      #expect(people[0].hasFault(forRelationshipNamed: "children"))
      #expect(people[0].isUpdated && people[2].one("parent") === people[0])
      #expect(people[0].changedValues().keys.sorted() == ["children"])
      #expect(children.count == 2 && children.contains(people[1]) && children.contains(people[2]))
      children.remove(people[1])
      #expect(people[1].one("parent") == nil && children.allObjects.count == 1)
      context.processPendingChanges()
      let changed = people[0].changedValues()["children"] as? Set<NSManagedObject>
      #expect(changed == [people[2]])
      #expect(
        people[0].committedValues(forKeys: ["children"])["children"] as? Set<NSManagedObject>
          == [people[1]])
      children.minus([people[2]])
      children.union([people[1]])
      #expect(!people[0].hasPersistentChangedValues)
      #expect(people[0].set("children") == [people[1]] && people[2].one("parent") == nil)
    }
  }

  @Test(
    "S4.08 S-E07 the inverse is set immediately, from either side",
    arguments: StoreKind.allCases)
  func inverseIsSetImmediatelyFromEitherSide(kind: StoreKind) throws {
    let (_, context) = try context(kind)
    context.performAndWait {
      let people = people("abc", context)
      people[1].setValue(people[0], forKey: "parent")
      #expect(people[0].set("children") == [people[1]])
      people[0].mutableSetValue(forKey: "children").add(people[2])
      #expect(people[2].one("parent") === people[0])
      context.processPendingChanges()
      #expect(people[0].set("children") == [people[1], people[2]])
    }
  }

  @Test(
    "S-E05 S-E06 either side creates the same graph; a move changes both sets",
    arguments: StoreKind.allCases)
  func eitherSideCreatesTheSameGraphAndAMoveChangesBothSets(kind: StoreKind) throws {
    let (stack, context) = try context(kind)
    try context.performAndWait {
      let countries = "xy".map { context.make("Country", ["name": "\($0)"]) }
      let people = people("ab", context)
      people[0].setValue(countries[0], forKey: "residentOf")
      countries[0].mutableSetValue(forKey: "residents").add(people[1])
      #expect(countries[0].set("residents") == Set(people))
      #expect(people.allSatisfy { $0.one("residentOf") === countries[0] })
      try context.save()
      people[0].setValue(countries[1], forKey: "residentOf")
      #expect(countries[0].set("residents") == [people[1]])
      #expect(countries[1].set("residents") == [people[0]])
      try context.save()
      context.refreshAllObjects()
      #expect(people[0].one("residentOf") === countries[1])
      #expect(countries[0].set("residents") == [people[1]])
    }
    let cold = try stack.context()
    try cold.performAndWait {
      let counts = try cold.all("Country").map { $0.set("residents").count }
      #expect(counts == [1, 1])
    }
  }

  @Test(
    "objectIDs(forRelationshipNamed:) creates no objects", arguments: StoreKind.allCases)
  func objectIDsForRelationshipCreatesNoObjects(kind: StoreKind) throws {
    let (stack, writer) = try context(kind)
    try writer.performAndWait {
      let people = people("abcd", writer)
      people[0].setValue(Set([people[1], people[2]]), forKey: "children")
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "name IN {'a', 'd'}")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.returnsObjectsAsFaults = false
      let people = try context.fetch(request)
      var ids: [NSManagedObjectID] = []
      let cost = costs(of: context) {
        ids = people[0].objectIDs(forRelationshipNamed: "children")
      }
      #expect(ids.count == 2 && cost.selects == stack.statements(1) && cost.faults == 1)
      #expect(ids.allSatisfy { context.registeredObject(for: $0) == nil })
      #expect(people[0].hasFault(forRelationshipNamed: "children"))
      people[0].mutableSetValue(forKey: "children").add(people[1])
      #expect(
        Set(people[0].objectIDs(forRelationshipNamed: "children"))
          == Set(ids + [people[1].objectID]))
      #expect(people[1].objectIDs(forRelationshipNamed: "parent") == [people[0].objectID])
      #expect(people[0].objectIDs(forRelationshipNamed: "parent").isEmpty)
    }
  }

  @Test(
    "A mutable set is set as a value with its objects, but converts to an empty Swift set",
    arguments: StoreKind.allCases)
  func mutableSetIsSetWithItsObjects(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: KinshipModel.make()).context()
    context.performAndWait {
      let people = "pqr".map { context.make("Person", ["name": "\($0)"]) }
      let reports = people[0].mutableSetValue(forKey: "reports")
      reports.addObjects(from: [people[1], people[2]])
      #expect((reports as? Set<NSManagedObject>)?.isEmpty == true && reports.allObjects.count == 2)
      people[0].setValue(reports, forKey: "reports")
      #expect(people[0].set("reports") == [people[1], people[2]])
      people[0].setValue(reports, forKey: "children")
      #expect(people[0].set("children") == [people[1], people[2]])
      #expect(people[1].one("parent") === people[0] && reports.contains(people[2]))
    }
  }
}
