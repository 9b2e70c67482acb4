import CoreDataCosts
import OpenCoreData
import ProfileEvents
import Testing

@Suite("Saving")
struct SaveTests {
  @Test(
    "S7.17 a saved object gets a permanent ID, reserved before its row is written", .ofOwnStores,
    arguments: StoreKind.allCases)
  func savedObjectGetsAPermanentIDReservedBeforeItsRowIsWritten(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let mood = Mood(context: context)
      mood.date = Date(timeIntervalSinceReferenceDate: 1)
      mood.colors = Data([1])
      mood.country = try context.country()
      let temporary = mood.objectID
      #expect(temporary.isTemporaryID)
      try context.save()
      #expect(!mood.objectID.isTemporaryID && mood.objectID != temporary)
      #expect(context.registeredObject(for: mood.objectID) === mood)
      let texts = Array(events.statements().drop { $0 != "BEGIN EXCLUSIVE" })
      let reserve = stack.texts(
        "BEGIN EXCLUSIVE", "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
        "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
        "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?", "COMMIT",
        "BEGIN EXCLUSIVE")
      #expect(Array(texts.prefix(reserve.count)) == reserve)
      #expect(texts.last == stack.texts("COMMIT").last)
      #expect(context.registeredObjects.contains(mood))
    }
  }

  @Test("S15-9 a new mood and its region are saved in two transactions", .ofOwnStores)
  func newMoodAndItsRegionAreSavedInTwoTransactions() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(0, countries: 1)
    let lines = LineList()
    let context = try stack.coldContext(sinks: [SQLDebugLog(level: 1) { lines.add($0) }])
    try context.performAndWait {
      let country = try #require(try Country.fetch(in: context).first)
      let mood = Mood(context: context)
      mood.date = Date(timeIntervalSinceReferenceDate: 1)
      mood.colors = Data([1])
      mood.country = country
      country.updatedAt = Date(timeIntervalSinceReferenceDate: 2)
      let before = lines.lines.count
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.inserts == 1 && cost.updates == 1 && cost.transactions == 2 && cost.saves == 1)
      let expected = [
        "BEGIN EXCLUSIVE", "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
        "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?", "COMMIT",
        "BEGIN EXCLUSIVE",
        "INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, ZDATE, ZLATITUDE, ZLONGITUDE, "
          + "ZREMOTEIDENTIFIER) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "UPDATE ZREGION SET ZUPDATEDAT = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?", "COMMIT",
      ]
      let saved = lines.lines.dropFirst(before)
      #expect(saved.filter { !$0.hasPrefix("cdprof: ") } == expected.map { "CoreData: sql: " + $0 })
      // Core Data's log has no save time; OpenCoreData's has its own prefix.
      #expect(saved.last?.hasPrefix("cdprof: annotation: save execution time: 0.") == true)
    }
  }

  @Test(
    "A cold stack reads saved values of every type", .ofOwnStores,
    arguments: StoreKind.allCases)
  func savedValuesOfEveryTypeAreReadByAColdStack(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.library())
    let values: [String: any Hashable & Sendable] = [
      "bool": true, "data": Data([0, 1, 255]), "date": Date(timeIntervalSinceReferenceDate: 0.125),
      "decimal": Decimal(12.5), "double": 0.1, "float": Float(0.25), "int16": Int16(-3),
      "int32": Int32(70_000), "int64": Int64(1) << 40, "string": "Ä 👩‍👩‍👧 \u{0}end",
      "uri": URL(fileURLWithPath: "/tmp/a b"), "uuid": UUID(),
    ]
    let writer = try stack.coldContext()
    try writer.performAndWait {
      _ = writer.make("Article", values)
      _ = writer.make("Article")
      try writer.save()
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Article")
      request.sortDescriptors = [NSSortDescriptor(key: "int16", ascending: true)]
      let articles = try context.fetch(request)
      #expect(articles.count == 2)
      for (key, value) in values {
        #expect(articles[0].value(forKey: key) == nil)
        #expect(
          (articles[1].storedValue(forKey: key) as? AnyHashable) == AnyHashable(value), "\(key)")
      }
    }
  }

  @Test(
    "A row that changed since it was read fails the save with error 133020 and writes nothing",
    arguments: StoreKind.ofRows)
  func rowChangedSinceItWasReadFailsTheSave(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 1)
    let first = try stack.coldContext()
    let second = try stack.coldContext()
    try first.performAndWait {
      let moods = try Mood.fetch(in: first) { $0.returnsObjectsAsFaults = false }
      try second.performAndWait {
        try #require(try Mood.fetch(in: second).first).latitude = 1
        try second.save()
      }
      for mood in moods { mood.latitude = 2 }
      do {
        try first.save()
        Issue.record("the save didn't fail")
      } catch let error as NSError {
        #expect(error.code == NSManagedObjectMergeError)
        let conflicts =
          error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
        #expect(conflicts?.map(\.oldVersionNumber) == [1])
        #expect(conflicts?.map(\.newVersionNumber) == [2])
      }
      #expect(first.hasChanges)
    }
    let reader = try stack.coldContext()
    let latitudes = try reader.performAndWait { try Mood.fetch(in: reader).compactMap(\.latitude) }
    #expect(latitudes == [1])
  }

  @Test(
    "Setting an equal value writes only the version; a save without changes writes nothing",
    .ofOwnStores,
    arguments: StoreKind.allCases)
  func equalValueWritesOnlyTheVersion(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(1, countries: 1)
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let mood = try #require(try Mood.fetch(in: context).first)
      mood.date = mood.date
      #expect(mood.hasChanges && mood.isUpdated && !mood.hasPersistentChangedValues)
      #expect(mood.changedValues().isEmpty)
      try context.save()
      #expect(
        events.statements(.update)
          == stack.texts("UPDATE ZMOOD SET Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?"))
      #expect(try costs(of: context) { try context.save() }.transactions == 0)
    }
  }

  @Test(
    "A missing value fails validation; several failures are one error 1560",
    arguments: StoreKind.allCases)
  func missingValueFailsValidationAndSeveralAreOneError(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    let context = try stack.coldContext()
    try context.performAndWait {
      let mood = Mood(context: context)
      mood.date = Date()
      mood.colors = Data()
      func code() -> Int {
        do { try context.save() } catch let error as NSError { return error.code }
        return 0
      }
      #expect(code() == NSValidationMissingMandatoryPropertyError)
      mood.setValue(nil, forKey: "date")
      #expect(code() == NSValidationMultipleErrorsError)
      mood.date = Date()
      mood.country = try context.country()
      #expect(code() == 0)
    }
  }

  @Test(
    "Both sides of a relationship change immediately; notifications contain what changed",
    arguments: StoreKind.allCases)
  func bothSidesOfARelationshipChangeAndAreInTheNotifications(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 2)
    let context = try stack.coldContext()
    let notes = LineList()
    let center = NotificationCenter.default
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
      .NSManagedObjectContextDidSave,
    ]
    let observers = names.map { name in
      center.addObserver(forName: name, object: context, queue: nil) { note in
        let sizes =
          note.userInfo?.compactMap { key, value in
            (value as? Set<NSManagedObject>).map { "\(key) \($0.count)" }
          } ?? ["no userInfo"]
        notes.add(([name.rawValue] + sizes.sorted()).joined(separator: ", "))
      }
    }
    defer { observers.forEach(center.removeObserver) }
    try context.performAndWait {
      let countries = try Country.fetch(in: context).sorted { $0.moods.count < $1.moods.count }
      let mood = try #require(countries[0].moods.first)
      let other = try #require(countries.first { $0 !== mood.country })
      mood.country = other
      #expect(other.moods.count == 2)
      #expect(countries.first { $0 !== other }?.moods.isEmpty == true)
      try context.save()
    }
    #expect(
      notes.lines == [
        "NSObjectsChangedInManagingContextNotification, updated 3",
        "NSManagingContextWillSaveChangesNotification, no userInfo",
        "NSManagingContextDidSaveChangesNotification, deleted 0, inserted 0, updated 3",
      ])
  }

  @Test(
    "Deleting applies the delete rules and removes the rows", .ofOwnStores,
    arguments: StoreKind.allCases)
  func deletionAppliesDeleteRulesAndRemovesRows(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: TestModels.company())
    let context = try stack.coldContext()
    try context.performAndWait {
      let home = context.make("Department", ["name": "Sales"])
      let people = ["A", "B"].map { context.make("Employee", ["name": $0, "department": home]) }
      try context.save()
      context.delete(home)
      #expect(home.isDeleted && context.deletedObjects == [home])
      let cost = try costs(of: context) { try context.save() }
      #expect(cost.deletes == stack.statements(1) && cost.updates == stack.statements(2))
      #expect(people.allSatisfy { $0.value(forKey: "department") == nil })
      #expect(home.managedObjectContext == nil)
    }
  }

  @Test(
    "S3.04 rolling back discards unsaved changes and writes nothing",
    arguments: StoreKind.allCases)
  func rollbackDiscardsUnsavedChangesAndWritesNothing(kind: StoreKind) throws {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext()
    try context.performAndWait {
      let moods = try context.fetch(Mood.sortedFetchRequest)
      let date = moods[0].date
      moods[0].date = Date(timeIntervalSinceReferenceDate: 9)
      context.delete(moods[1])
      _ = Mood(context: context)
      context.rollback()
      #expect(!context.hasChanges && moods[0].date == date && !moods[1].isDeleted)
      #expect(try Mood.count(in: context) == 2)
      #expect(try costs(of: context) { try context.save() }.transactions == 0)
    }
  }

  @Test("A read-only store can't be saved to and isn't modified")
  func readOnlyStoreCannotBeSavedTo() throws {
    let stack = try TestStack.moody()
    try stack.addMoods(2, countries: 1)
    let context = try stack.coldContext(options: [NSReadOnlyPersistentStoreOption: true])
    try context.performAndWait {
      try #require(try Mood.fetch(in: context).first).latitude = 1
      let error = try #require(context.saveError())
      #expect(error.code == NSPersistentStoreSaveError)
      let affected = error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
      #expect(affected == context.persistentStoreCoordinator?.persistentStores)
    }
    let reader = try stack.coldContext()
    let latitudes = try reader.performAndWait { try Mood.fetch(in: reader).compactMap(\.latitude) }
    #expect(latitudes.isEmpty)
  }
}

extension NSManagedObjectContext {
  /// A country that a mood can belong to.
  func country() throws -> Country {
    if let country = try Country.fetch(in: self).first { return country }
    let country = Country(context: self)
    country.numericISO3166Code = 1
    return country
  }
}
