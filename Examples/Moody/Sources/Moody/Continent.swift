public import OpenCoreData

/// A continent and its countries.
public final class Continent: Region, FetchableEntity {
  /// How many countries have moods.
  @Managed("numberOfCountries") public var numberOfCountries: Int64
  /// The countries; the first reading costs a SELECT.
  @Managed("countries") public var countries: Set<Country>

  /// Keeps its counts right; in the whole model alone.
  public override func willSave() {
    super.willSave()
    guard isDelayedDeletable, changedValue(forKey: "countries") != nil else { return }
    let count = Int64(countries.count)
    if numberOfCountries != count { numberOfCountries = count }
    updateMoodCount()
    if countries.isEmpty, !isDeleted { markForLocalDeletion() }
  }

  /// Adds what its countries have gained to the count of the last save.
  ///
  /// Cost: its to-many; no country is fired.
  func updateMoodCount() {
    let present = countries
    let before = committedValue(forKey: "countries") as? Set<NSManagedObject> ?? []
    let committed = Set(before.compactMap { $0 as? Country })
    let delta = present.union(committed).reduce(Int64(0)) { sum, country in
      sum
        + country.moodCountDelta(
          isCounted: present.contains(country), wasCounted: committed.contains(country))
    }
    let count = (committedValue(forKey: "numberOfMoods") as? Int64 ?? 0) + delta
    if numberOfMoods != count { numberOfMoods = count }
  }

  /// `Continent`.
  public static var entityName: String { "Continent" }
}
