public import OpenCoreData

/// A continent and its countries.
public final class Continent: Region, FetchableEntity {
  /// The number of countries that have moods.
  @Managed("numberOfCountries") public var numberOfCountries: Int64
  /// The countries.
  ///
  /// The first access costs a SELECT.
  @Managed("countries") public var countries: Set<Country>

  /// Updates the counts, if the model is the complete one.
  public override func willSave() {
    super.willSave()
    guard isDelayedDeletable, changedValue(forKey: "countries") != nil else { return }
    let count = Int64(countries.count)
    if numberOfCountries != count { numberOfCountries = count }
    updateMoodCount()
    updateMark()
  }

  /// Marks the continent for deletion if it has no countries, and otherwise removes an earlier
  /// mark.
  ///
  /// - Parameter includingUnsaved: Whether to remove an unsaved mark, too.
  func updateMark(includingUnsaved: Bool = false) {
    guard !isDeleted else { return }
    if countries.isEmpty {
      markForLocalDeletion()
    } else if markedForDeletionDate != nil, includingUnsaved || !changedForDelayedDeletion {
      markedForDeletionDate = nil
    }
  }

  /// Adds the countries' changes since the last save to the number of moods.
  ///
  /// **Cost**: firing the continent's to-many relationship fault. No country is fired.
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

  /// The entity name, `Continent`.
  public static var entityName: String { "Continent" }
}
