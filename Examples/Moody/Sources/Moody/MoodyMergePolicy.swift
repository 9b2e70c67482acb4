public import OpenCoreData

/// A merge policy for conflicts between the view context and the context that synchronizes with a
/// server.
///
/// In both contexts, the server's values take precedence. In addition, the policy keeps the latest
/// `updatedAt`, and recalculates the stored counts and the marks of the regions that a conflict
/// concerns, because neither side's are correct. These include the regions of a mood that both
/// sides have changed: if both have deleted it, each has counted one less. See chapter 11 of the
/// book.
public final class MoodyMergePolicy: NSMergePolicy {
  /// The context that the policy is for.
  public enum Mode: Sendable {
    /// The context with the server's values. Its values take precedence.
    case remote
    /// The view context. The store's values take precedence.
    case local

    var mergeType: NSMergePolicyType {
      switch self {
      case .remote: .mergeByPropertyObjectTrumpMergePolicyType
      case .local: .mergeByPropertyStoreTrumpMergePolicyType
      }
    }
  }

  /// Creates a policy for one of the contexts.
  public required init(mode: Mode) {
    super.init(merge: mode.mergeType)
  }

  /// Resolves conflicts by property, and then updates dates and counts.
  ///
  /// **Cost**: a `SELECT COUNT` for each continent that a conflict concerns, and the to-many
  /// relationship of each such region.
  ///
  /// - Throws: The error of the mode's merge policy.
  public override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    let newest = list.compactMap { conflict -> (Region, Date)? in
      (conflict.sourceObject as? Region).map { ($0, conflict.newestUpdate) }
    }
    var regions = Set(list.flatMap { $0.sourceObject.countedIn })
    try super.resolve(optimisticLockingConflicts: list)
    regions.formUnion(list.flatMap { $0.sourceObject.countedIn })
    try list.first?.sourceObject.managedObjectContext?.advanceQueryGeneration()
    try recount(regions, newest)
  }

  /// Resolves conflicts of unique codes as the mode's merge policy does, and then updates dates and
  /// counts: the region that's left has the moods of all.
  ///
  /// A context that's pinned to a query generation moves to the current one first. In its own, the
  /// stored object doesn't exist yet, so that using it would make it a deleted one.
  ///
  /// **Cost**: as for other conflicts.
  ///
  /// - Throws: The error of the mode's merge policy.
  public override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list {
      try conflict.databaseObject?.managedObjectContext?.advanceQueryGeneration()
    }
    let newest = list.flatMap { conflict in
      let objects = conflict.conflictingObjects + [conflict.databaseObject].compactMap(\.self)
      let regions = objects.compactMap { $0 as? Region }
      let date = regions.map(\.updatedAt).max() ?? .distantPast
      return regions.map { ($0, date) }
    }
    try super.resolve(constraintConflicts: list)
    try recount(Set(newest.flatMap(\.0.countedIn)), newest)
  }

  /// Sets the dates of regions, and updates the counts and marks of these and others.
  private func recount(_ regions: Set<Region>, _ dates: [(Region, Date)]) throws {
    for (region, date) in dates where !region.isDeleted && region.updatedAt != date {
      region.updatedAt = date
    }
    var continents = Set(regions.compactMap { $0 as? Continent })
    for case let country as Country in regions where !country.isDeleted {
      country.recount()
      // It may have joined or left a continent.
      continents.formUnion(country.countedIn.compactMap { $0 as? Continent })
    }
    for continent in continents where !continent.isDeleted { try continent.recount() }
  }
}

extension NSManagedObject {
  /// The regions whose counts the object is a part of now, or was when it was last read: the object
  /// itself, the country of a mood, and the continent of a country.
  fileprivate var countedIn: Set<Region> {
    func values(_ key: String) -> [Region] {
      [value(forKey: key), committedValue(forKey: key)].compactMap { $0 as? Region }
    }
    return switch self {
    case is Mood: Set(values("country").flatMap(\.countedIn))
    case let country as Country: Set(values("continent")).union([country])
    case let continent as Continent: [continent]
    default: []
    }
  }
}

extension NSManagedObjectContext {
  /// Moves a context that's pinned to a query generation to the current one.
  ///
  /// In its own generation, counting again would read the rows from before the conflict, and
  /// refreshing an object would bring the conflict back.
  fileprivate func advanceQueryGeneration() throws {
    if queryGenerationToken != nil { try setQueryGenerationFrom(.current) }
  }
}

extension NSMergeConflict {
  /// The latest `updatedAt` of the object and its snapshots.
  fileprivate var newestUpdate: Date {
    let key = "updatedAt"
    let dates = [objectSnapshot, cachedSnapshot, persistedSnapshot].map { $0?[key] as? Date }
    return (dates + [sourceObject.value(forKey: key) as? Date]).compactMap { $0 }.max()
      ?? Date(timeIntervalSince1970: 0)
  }
}

extension Country {
  fileprivate func recount() {
    managedObjectContext?.refresh(self, mergeChanges: true)
    let count = Int64(moods.count)
    if numberOfMoods != count { numberOfMoods = count }
    updateMark(includingUnsaved: true)
    // `willSave()` isn't called again for what a merge policy changes.
    leaveContinentIfMarked()
  }
}

extension Continent {
  fileprivate func recount() throws {
    guard let context = managedObjectContext else { return }
    context.refresh(self, mergeChanges: true)
    let count = Int64(countries.count)
    if numberOfCountries != count { numberOfCountries = count }
    let moods = try Mood.count(in: context) { request in
      request.predicate = NSPredicate(format: "country IN %@", countries as NSSet)
    }
    if numberOfMoods != Int64(moods) { numberOfMoods = Int64(moods) }
    updateMark(includingUnsaved: true)
  }
}
