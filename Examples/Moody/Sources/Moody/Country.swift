public import OpenCoreData

/// A country, the continent it lies on and the moods seen in it.
public final class Country: Region, FetchableEntity {
  /// The continent; nil where the code is not known.
  @Managed("continent") public var continent: Continent?
  /// The moods; the first reading costs a SELECT.
  @Managed("moods") public var moods: Set<Mood>

  /// Keeps its count right, and leaves its continent when it is marked; in the whole model alone.
  public override func willSave() {
    super.willSave()
    guard isDelayedDeletable else { return }
    if changedForDelayedDeletion, continent != nil { continent = nil }
    guard changedValue(forKey: "moods") != nil else { return }
    updateMoodCount()
    if moods.isEmpty, !isDeleted { markForLocalDeletion() }
  }

  /// Takes a continent along whose last country it is; in the whole model alone.
  public override func prepareForDeletion() {
    super.prepareForDeletion()
    guard isDelayedDeletable, let continent, !continent.isDeleted,
      continent.countries.allSatisfy({ $0 === self || $0.isDeleted })
    else { return }
    managedObjectContext?.delete(continent)
  }

  private func updateMoodCount() {
    let count = Int64(moods.count)
    // A value that is set without need would keep the save from settling.
    guard numberOfMoods != count else { return }
    numberOfMoods = count
    continent?.updateMoodCount()
  }

  /// How many moods more it has than at the last save, as far as a continent counts them.
  func moodCountDelta(isCounted: Bool, wasCounted: Bool) -> Int64 {
    // A fault that stays has no changes, and is not fired to say so.
    if isFault, isCounted == wasCounted { return 0 }
    let before = wasCounted ? committedValue(forKey: "numberOfMoods") as? Int64 ?? 0 : 0
    return (isCounted && !isDeleted ? numberOfMoods : 0) - before
  }

  /// `Country`.
  public static var entityName: String { "Country" }
}
