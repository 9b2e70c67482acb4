import ManagedModel

/// The entities that requests for history name: Apple's, without tables of their own.
enum HistoryEntities {
  static let change = make(
    "CHANGE", ["changeID", "changedEntity", "changedObjectID", "changeType"])
  static let transaction = make(
    "TRANSACTION",
    [
      "author", "bundleID", "contextName", "processID", "storeID", "timestamp",
      "transactionNumber",
    ])

  /// A request for one of the two.
  static func request(_ entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    return request
  }

  private static func make(_ name: String, _ attributes: [String]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      return attribute
    }
    return entity
  }
}
