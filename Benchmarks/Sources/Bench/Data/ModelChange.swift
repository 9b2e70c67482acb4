import OpenCoreData

/// A change of the measured model for which lightweight migration is measured.
enum ModelChange: String {
  case attributeAdded = "attribute added"
  case defaultAdded = "attribute with a default added"
  case attributeRemoved = "attribute removed"
  case entityRenamed = "entity renamed, index added"

  /// Creates the next version of the model.
  func makeModel() -> NSManagedObjectModel {
    let model = BenchModel.make(moodClass: NSManagedObject.self)
    guard let mood = model.entitiesByName["Mood"] else { return model }
    switch self {
    case .attributeAdded: mood.properties.append(Self.score)
    case .defaultAdded:
      let score = Self.score
      score.isOptional = false
      score.defaultValue = 7
      mood.properties.append(score)
    case .attributeRemoved: mood.properties.removeAll { $0.name == "note" }
    case .entityRenamed:
      mood.name = "Feeling"
      mood.renamingIdentifier = "Mood"
      if let rank = mood.attributesByName["rank"] {
        mood.indexes = [
          NSFetchIndexDescription(
            name: "byRank",
            elements: [NSFetchIndexElementDescription(property: rank, collationType: .binary)])
        ]
      }
    }
    return model
  }

  private static var score: NSAttributeDescription {
    let score = NSAttributeDescription()
    score.name = "score"
    score.attributeType = .integer32AttributeType
    return score
  }
}
