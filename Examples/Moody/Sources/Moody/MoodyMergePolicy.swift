public import OpenCoreData

/// Settles conflicts between the screen's context and the one that talks to a server.
///
/// The server's values win in both. Beside that, the newest `updatedAt` stays, and the stored counts of
/// conflicted regions are counted again, since neither side's number is right. The book's chapter 11.
public final class MoodyMergePolicy: NSMergePolicy {
  /// Whose context it is.
  public enum Mode: Sendable {
    /// The one that brings the server's values: what it sets wins.
    case remote
    /// The screen's: what is stored wins.
    case local

    var mergeType: NSMergePolicyType {
      switch self {
      case .remote: .mergeByPropertyObjectTrumpMergePolicyType
      case .local: .mergeByPropertyStoreTrumpMergePolicyType
      }
    }
  }

  /// A policy for one of the two contexts.
  public required init(mode: Mode) {
    super.init(merge: mode.mergeType)
  }

  /// Settles by property, then dates and counts.
  ///
  /// Cost: a `SELECT COUNT` for each conflicted continent, and the to-many of each conflicted region.
  /// - Throws: as the policy of the mode.
  public override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    let newest = list.compactMap { conflict -> (Region, Date)? in
      (conflict.sourceObject as? Region).map { ($0, conflict.newestUpdate) }
    }
    try super.resolve(optimisticLockingConflicts: list)
    for (region, date) in newest where region.updatedAt != date { region.updatedAt = date }
    for case let country as Country in list.map(\.sourceObject) { country.recount() }
    for case let continent as Continent in list.map(\.sourceObject) { try continent.recount() }
  }
}

extension NSMergeConflict {
  /// The latest date that the object or one of its snapshots has.
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
  }
}
