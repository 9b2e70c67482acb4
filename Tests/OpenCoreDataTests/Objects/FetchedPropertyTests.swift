import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

@Suite("Fetched properties")
struct FetchedPropertyTests {
  /// A team's peers: the people whose name begins with the team's, and whose number is the one in
  /// the property's user info.
  private func model() -> NSManagedObjectModel {
    let model = WorkshopModel.make()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
    request.predicate = NSPredicate(
      format: "name BEGINSWITH $FETCH_SOURCE.name AND number == $FETCHED_PROPERTY.userInfo.number")
    request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: false)]
    let peers = NSFetchedPropertyDescription()
    peers.name = "peers"
    peers.userInfo = ["number": 7]
    peers.fetchRequest = request
    model.entitiesByName["Team"]?.properties.append(peers)
    return model
  }

  @Test(
    "S-E18 a fetched property is fetched on first access and cached until a refresh",
    arguments: StoreKind.allCases)
  func fetchedPropertyIsCachedUntilTheObjectIsRefreshed(kind: StoreKind) throws {
    let bed = try ContextBed(kind, model: model())
    let context = bed.context()
    try context.performAndWait {
      let team = context.make("Team", ["name": "a"])
      for (serial, name) in ["ab", "b", "ac"].enumerated() {
        _ = context.make(
          "Person", ["name": name, "number": Int64(7), "serial": Int64(serial)])
      }
      _ = context.make("Person", ["name": "ad", "number": Int64(8)])
      try context.save()
      func peers() -> [String] {
        (team.value(forKey: "peers") as? [NSManagedObject] ?? []).compactMap(\.label)
      }
      let before = context.counters
      #expect(peers() == ["ac", "ab"])
      #expect(peers() == ["ac", "ab"])
      #expect(context.counters.fetches == before.fetches + 1)
      #expect(context.counters.selects == before.selects + bed.selects(1))
      _ = context.make("Person", ["name": "ae", "number": Int64(7), "serial": Int64(9)])
      try context.save()
      team.label = "b"
      #expect(peers() == ["ac", "ab"], "it isn't fetched again automatically")
      context.refresh(team, mergeChanges: true)
      #expect(peers() == ["b"])
      context.refresh(team, mergeChanges: false)
      #expect(peers() == ["ae", "ac", "ab"])
      #expect(context.counters.fetches == before.fetches + 3)
    }
  }

  @Test("A fetched property has its request before it's in a model, and so has its copy")
  func fetchedPropertyHasItsRequestOutsideOfAModel() throws {
    let property = NSFetchedPropertyDescription()
    #expect(property.fetchRequest == nil)
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
    request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name")
    request.fetchLimit = 3
    property.fetchRequest = request
    let copy = try #require(property.copy() as? NSFetchedPropertyDescription)
    for property in [property, copy] {
      let found = try #require(property.fetchRequest)
      #expect(found !== request && found.entityName == "Person" && found.fetchLimit == 3)
      #expect(found.predicate == request.predicate && found.entity == nil)
    }
    let model = WorkshopModel.make()
    property.name = "namesakes"
    model.entitiesByName["Team"]?.properties.append(property)
    #expect(property.fetchRequest?.entity === model.entitiesByName["Person"])
    property.fetchRequest = nil
    #expect(property.fetchRequest == nil)
  }
}
