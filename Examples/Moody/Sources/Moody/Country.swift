public import OpenCoreData

/// A country, with its continent and the moods that were seen in it.
public final class Country: Region, FetchableEntity {
  /// The continent, or `nil` if the country code is unknown.
  @Managed("continent") public var continent: Continent?
  /// The moods.
  ///
  /// The first access costs a SELECT.
  @Managed("moods") public var moods: Set<Mood>

  /// Updates the count and the mark for deletion when moods are added or removed, and removes a
  /// marked country from its continent, if the model is the complete one.
  public override func willSave() {
    super.willSave()
    guard isDelayedDeletable else { return }
    leaveContinentIfMarked()
    guard changedValue(forKey: "moods") != nil else { return }
    updateMoodCount()
    updateMark()
  }

  /// Marks the country for deletion if it has no moods.
  ///
  /// A mark from before the country got its moods is removed, such as one that another context set
  /// in the meantime.
  ///
  /// - Parameter includingUnsaved: Whether to remove an unsaved mark, too.
  func updateMark(includingUnsaved: Bool = false) {
    guard !isDeleted else { return }
    if moods.isEmpty {
      markForLocalDeletion()
    } else if markedForDeletionDate != nil, includingUnsaved || !changedForDelayedDeletion {
      // Without a continent, the country is in no list of a continent.
      try? joinContinent()
    }
  }

  /// Removes the country from its continent if it has an unsaved mark.
  func leaveContinentIfMarked() {
    if changedForDelayedDeletion, continent != nil { continent = nil }
  }

  /// Deletes the continent with its last country, if the model is the complete one.
  public override func prepareForDeletion() {
    super.prepareForDeletion()
    guard isDelayedDeletable, let continent, !continent.isDeleted,
      continent.countries.allSatisfy({ $0 === self || $0.isDeleted })
    else { return }
    managedObjectContext?.delete(continent)
  }

  private func updateMoodCount() {
    let count = Int64(moods.count)
    // Setting an equal value would cause another pass of `willSave()`.
    guard numberOfMoods != count else { return }
    numberOfMoods = count
    continent?.updateMoodCount()
  }

  /// Returns the change in the number of moods since the last save, for the continent's count.
  ///
  /// - Parameters:
  ///   - isCounted: Whether the country is in the continent now.
  ///   - wasCounted: Whether the country was in the continent at the last save.
  func moodCountDelta(isCounted: Bool, wasCounted: Bool) -> Int64 {
    // A fault has no changes, so don't fire it.
    if isFault, isCounted == wasCounted { return 0 }
    let before = wasCounted ? committedValue(forKey: "numberOfMoods") as? Int64 ?? 0 : 0
    return (isCounted && !isDeleted ? numberOfMoods : 0) - before
  }

  /// The entity name, `Country`.
  public static var entityName: String { "Country" }
}
