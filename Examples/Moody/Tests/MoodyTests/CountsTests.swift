import CoreDataCosts
import Moody
import OpenCoreData
import Testing

@Suite("Stored counts and two-step deletion")
struct CountsTests {
  /// The stored counts: the countries and moods of Europe, and the moods of France.
  private func counts(_ context: NSManagedObjectContext) throws -> [Int64] {
    let france = try context.country(250)
    let europe = try #require(france.continent)
    return [europe.numberOfCountries, europe.numberOfMoods, france.numberOfMoods]
  }

  @Test(
    "S8.32, S-C43 stored counts are correct after each save, without extra updates",
    arguments: StoreKind.allCases)
  func storedCountsAreCorrectAfterEachSave(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let france = try context.country(250)
      let germany = try context.country(276)
      let moods = (1...4).map { context.mood($0, in: $0 < 4 ? france : germany) }
      try context.save()
      #expect(try counts(context) == [2, 4, 3])
      moods[0].country = germany
      try context.save()
      #expect(try counts(context) == [2, 4, 2] && germany.numberOfMoods == 2)
      context.delete(moods[1])
      try context.save()
      #expect(try counts(context) == [2, 3, 1])
      moods[0].latitude = 1
      context.processPendingChanges()
      #expect(context.updatedObjects == [moods[0]])
      try context.save()
      #expect(context.updatedObjects.isEmpty)
      context.delete(germany)
      try context.save()
      #expect(try counts(context) == [1, 1, 1])
      #expect(try Mood.count(in: context) == 1)
    }
  }

  @Test("Deleting the last mood deletes its country and continent", arguments: StoreKind.allCases)
  func deletingTheLastMoodDeletesCountryAndContinent(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let moods = (1...2).map { _ in try? context.mood(1, in: context.country(250)) }
      try context.save()
      moods[0].map(context.delete)
      try context.save()
      #expect(try Country.count(in: context) == 1)
      moods[1].map(context.delete)
      try context.save()
      #expect(try [Mood.count(in: context), Country.count(in: context)] == [0, 0])
      #expect(try Continent.count(in: context) == 0)
    }
  }

  @Test(
    "S11-13 two contexts add moods to one country, and the merge policy counts again",
    arguments: StoreKind.allCases, [false, true])
  func mergePolicyRecountsAfterAConflict(kind: StoreKind, isPinned: Bool) throws {
    let stack = try MoodyStack(kind)
    let (screen, sync) = (stack.context(), stack.context())
    try screen.performAndWait {
      if isPinned { try screen.setQueryGenerationFrom(.current) }
      screen.mergePolicy = MoodyMergePolicy(mode: .local)
      screen.mood(1, in: try screen.country(250))
      try screen.save()
      screen.mood(2, in: try screen.country(250))
    }
    let newest = Date(timeIntervalSinceNow: 20)
    try sync.performAndWait {
      sync.mergePolicy = MoodyMergePolicy(mode: .remote)
      let country = try sync.country(250)
      sync.mood(3, in: country)
      country.updatedAt = newest
      try sync.save()
    }
    try screen.performAndWait {
      try screen.country(250).updatedAt = Date(timeIntervalSinceNow: 10)
      let cost = try costs(of: screen) { try screen.save() }
      // One count for the continent, which has a conflict; none for the country.
      #expect(cost.fetches == 1)
      screen.refreshAllObjects()
      #expect(try counts(screen) == [1, 3, 3])
      #expect(abs(try screen.country(250).updatedAt.timeIntervalSince(newest)) < 0.001)
    }
  }

  @Test(
    "A country that two contexts add to its continent is counted once",
    arguments: StoreKind.allCases)
  func countryAddedByTwoContextsIsCountedOnce(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let (screen, sync) = (stack.context(), stack.context())
    try screen.performAndWait {
      Country(context: screen).numericISO3166Code = 356
      Continent(context: screen).numericISO3166Code = 10_003
      try screen.save()
    }
    let saved = SaveNotifications(of: screen)
    func join(_ context: NSManagedObjectContext) throws -> (Country, Continent) {
      let country = try #require(try Country.fetch(in: context).first)
      let continent = try #require(try Continent.fetch(in: context).first)
      country.continent = continent
      return (country, continent)
    }
    try sync.performAndWait {
      let (country, continent) = try join(sync)
      try screen.performAndWait {
        screen.mood(1, in: try join(screen).0)
        try screen.save()
      }
      sync.mergeChanges(fromContextDidSave: try #require(saved.last))
      sync.mood(2, in: country)
      try sync.save()
      #expect(country.numberOfMoods == 2 && continent.numberOfMoods == 2)
    }
  }

  @Test(
    "S11-26, S11-28, S11-29, S-E24 marking for deletion hides an object and runs no delete rule",
    arguments: StoreKind.allCases)
  func markingHidesTheObjectAndRunsNoDeleteRule(kind: StoreKind) throws {
    let stack = try MoodyStack(kind)
    let context = stack.context()
    try context.performAndWait {
      let france = try context.country(250)
      let mood = context.mood(1, in: france)
      try context.save()
      france.markForLocalDeletion()
      let first = try #require(france.markedForDeletionDate)
      france.markForLocalDeletion()
      #expect(france.markedForDeletionDate == first)
      let cost = try costs(of: context) { try context.save() }
      // The country, and its former continent, which is now empty and marked, too.
      #expect(cost.deletes == 0 && cost.updates == stack.selects(2))
      #expect(france.continent == nil && mood.country === france && !mood.isDeleted)
      #expect(try Country.count(in: context) == 1)
      #expect(try context.fetch(Country.visibleFetchRequest).isEmpty)
      #expect(try context.fetch(Continent.visibleFetchRequest).isEmpty)
      context.refresh(france, mergeChanges: false)
      france.markForLocalDeletion()
      #expect(try #require(france.markedForDeletionDate) > first, "a fault is marked again")
      context.rollback()
      context.refresh(france, mergeChanges: false)
      _ = france.markedForDeletionDate
      france.markForLocalDeletion()
      #expect(!france.hasChanges)
    }
  }

  @Test("S11-27 one batch delete removes objects marked long ago without loading them")
  func oneDeleteRemovesObjectsMarkedLongAgo() throws {
    let stack = try MoodyStack(.sqlite)
    let context = stack.context()
    try context.performAndWait {
      for (minute, age) in [180.0, 60.0, nil].enumerated() {
        context.mood(minute, in: nil).markedForDeletionDate = age.map {
          Date(timeIntervalSinceNow: -$0)
        }
      }
      try context.save()
      let cost = try costs(of: context) { try Mood.deleteMarked(in: context) }
      #expect(cost.deletes == 1 && cost.rows == 0)
      #expect(!context.hasChanges)
      let remaining = try Mood.fetch(in: context) {
        $0.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      }
      #expect(remaining.map { Int($0.date.timeIntervalSinceReferenceDate / 60) } == [1, 2])
    }
  }

  @Test(
    "S-E22 a fault whose row was deleted reads nil, and is deleted after merging or reading",
    arguments: StoreKind.allCases, [true, false])
  func faultWithoutARowReadsNilAndBecomesDeleted(kind: StoreKind, merged: Bool) throws {
    let stack = try MoodyStack(kind)
    let (first, second) = (stack.context(), stack.context())
    let id = try first.performAndWait {
      let new = first.mood(1, in: nil)
      new.latitude = 1
      try first.save()
      return new.objectID
    }
    let saved = SaveNotifications(of: first)
    let mood = try second.performAndWait { try #require(second.object(with: id) as? Mood) }
    try first.performAndWait {
      first.delete(try first.existingObject(with: id))
      try first.save()
    }
    let note = try #require(saved.last)
    second.performAndWait {
      #expect(mood.isFault && !mood.isDeleted)
      if merged { second.mergeChanges(fromContextDidSave: note) }
      #expect(mood.isDeleted == merged)
      #expect(mood.latitude == nil && mood.country == nil)
      second.processPendingChanges()
      #expect(mood.isDeleted && !second.hasChanges)
      #expect(throws: NSError.self) { try second.existingObject(with: id) }
    }
  }
}
