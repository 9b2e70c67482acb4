import CoreDataCosts
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Batch deletions perform cascade and nullify rules")
struct BatchDeleteRulesTests {
  /// Nodes with a cascading relationship of every kind to other nodes, and leaves with notes.
  private static func model() -> NSManagedObjectModel {
    let node = SchemaModels.entity(
      "Node",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("image", .binaryDataAttributeType),
      ])
    node.attributesByName["image"]?.allowsExternalBinaryDataStorage = true
    let leaf = SchemaModels.entity("Leaf", [])
    for (name, inverse, isToMany, inverseIsToMany) in [
      ("children", "parent", true, false), ("partner", "partnerOf", false, false),
      ("links", "linkedBy", true, true), ("home", "guests", false, true),
      ("steps", "owner", true, false),
    ] {
      let there = TestModels.relationship(name, to: node, isToMany: isToMany)
      let back = TestModels.relationship(inverse, to: node, isToMany: inverseIsToMany)
      there.deleteRule = .cascadeDeleteRule
      there.isOrdered = name == "steps"
      there.inverseRelationship = back
      back.inverseRelationship = there
      node.properties += [there, back]
    }
    let notes = SchemaModels.entity("Note", [SchemaModels.attribute("name", .stringAttributeType)])
    let noteOf = TestModels.relationship("node", to: node, isToMany: false)
    let leafNotes = TestModels.relationship("notes", to: notes, isToMany: true)
    leafNotes.deleteRule = .cascadeDeleteRule
    noteOf.inverseRelationship = leafNotes
    leafNotes.inverseRelationship = noteOf
    noteOf.destinationEntity = leaf
    leaf.properties = [leafNotes]
    notes.properties += [noteOf]
    node.subentities = [leaf]
    let model = NSManagedObjectModel()
    model.entities = [node, leaf, notes]
    return model
  }

  private func values(_ stack: SharedStack, _ sql: String) throws -> [[SQLiteValue]] {
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    return try connection.values(sql)
  }

  private func names(_ stack: SharedStack, _ table: String) throws -> String {
    try values(stack, "SELECT ZNAME FROM \(table) ORDER BY 1").map { row in
      if case .text(let name) = row[0] { return name }
      return "-"
    }.joined()
  }

  private func delete(
    _ name: String, of entity: String = "Node", in context: NSManagedObjectContext,
    _ resultType: NSBatchDeleteRequestResultType = .resultTypeObjectIDs
  ) throws -> Any? {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: entity)
    fetch.predicate = NSPredicate(format: "name == %@", name)
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = resultType
    return (try context.execute(request) as? NSBatchDeleteResult)?.result
  }

  @Test(
    "Cascades follow each kind of relationship",
    arguments: ["children", "partner", "links", "home", "steps"])
  func cascadesFollowEveryKindOfRelationship(relationship: String) throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      let nodes = ["A", "B", "C", "D"].map { context.make("Node", ["name": $0]) }
      for (owner, destination) in [(0, 1), (1, 2)] {
        let description = nodes[0].entity.relationshipsByName[relationship]
        var value: Any = nodes[destination]
        if description?.isToMany == true { value = Set([nodes[destination]]) }
        if description?.isOrdered == true { value = NSOrderedSet(object: nodes[destination]) }
        nodes[owner].setValue(value, forKey: relationship)
      }
      try context.save()
      let matched = try delete("B", in: context) as? [NSManagedObjectID]
      #expect(matched == [nodes[1].objectID], "the result contains only the matched object")
    }
    #expect(try names(stack, "ZNODE") == "AD")
    let table = try values(
      stack, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z_1LINK%'")
    guard case .text(let joins)? = table.first?.first else {
      Issue.record("no join table")
      return
    }
    #expect(try values(stack, "SELECT * FROM \(joins)") == [])
    let dangling = try values(
      stack,
      "SELECT COUNT(*) FROM ZNODE WHERE ZPARENT = 2 OR ZPARTNER = 2 OR ZPARTNEROF = 2 OR ZHOME = 2 "
        + "OR ZOWNER = 2")
    #expect(dangling == [[.integer(0)]])
  }

  @Test("The history of a deletion has no updates for to-many relationships without an inverse")
  func destinationsWithoutAnInverseAreNotUpdated() throws {
    let stack = try SharedStack(
      .sqlite, KinshipModel.make(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let sight = context.make("Sight", ["name": "S"])
      let country = context.make("Country", ["name": "A", "sights": NSOrderedSet(object: sight)])
      try context.save()
      _ = try delete("A", of: "Country", in: context)
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let all = try #require(result?.result as? [NSPersistentHistoryTransaction])
      #expect(all.last?.changes?.map(\.changedObjectID) == [country.objectID])
    }
    #expect(try values(stack, "SELECT Z_OPT FROM ZSIGHT") == [[.integer(1)]])
  }

  @Test("A cyclic tree is deleted completely, with subentities and their cascades")
  func cyclicTreeIsDeletedWithItsCascades() throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      let root = context.make("Node", ["name": "A"])
      for name in ["B", "C"] {
        let branch = context.make("Node", ["name": name, "parent": root])
        for _ in 0..<20 {
          let leaf = context.make("Leaf", ["name": "d", "parent": branch])
          for _ in 0..<3 { _ = context.make("Note", ["name": "n", "node": leaf]) }
        }
        root.setValue(Set([root]), forKey: "linkedBy")
        if name == "C" { root.setValue(branch, forKey: "parent") }
      }
      let kept = context.make("Leaf", ["name": "X", "linkedBy": Set<NSManagedObject>()])
      _ = context.make("Note", ["name": "k", "node": kept])
      try context.save()
      let cost = try costs(of: context) {
        let count = try delete("A", in: context, .resultTypeCount)
        #expect(count as? Int == 1)
      }
      #expect(cost.transactions == 1)
      // Two tables, and the join table of `links` by each of its columns.
      #expect(cost.deletes == 4)
      // The matched row, five relationships on each of three levels, and the leaves' notes.
      #expect(cost.selects == 1 + 3 * 5 + 1)
    }
    #expect(try names(stack, "ZNODE") == "X")
    #expect(try names(stack, "ZNOTE") == "k")
  }

  @Test("History contains cascaded deletions and nullified rows; external files are deleted")
  func historyContainsCascadesAndExternalFilesAreDeleted() throws {
    let stack = try SharedStack(
      .sqlite, Self.model(), options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    let files = ExternalStorage(storeURL: stack.storeURL)
    try context.performAndWait {
      let image = Data(repeating: 7, count: 100_001)
      let parent = context.make("Node", ["name": "A", "image": image])
      let child = context.make("Leaf", ["name": "B", "image": image, "parent": parent])
      _ = context.make("Note", ["name": "n", "node": child])
      _ = context.make("Node", ["name": "C", "image": image, "partner": parent])
      try context.save()
      #expect(try files.fileNames().count == 3)
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      // C's `partner` is A, so deleting A nullifies it.
      _ = try delete("A", in: context)
      #expect(try files.fileNames().count == 1)
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
      request.resultType = .transactionsAndChanges
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
      #expect(transactions.count == 1)
      let changes = (transactions.first?.changes ?? []).map {
        "\($0.changeType == .delete ? "delete" : "update") \($0.changedObjectID.entity.name ?? "")"
      }
      #expect(
        changes.sorted() == ["delete Leaf", "delete Node", "delete Note", "update Node"])
    }
    #expect(try names(stack, "ZNODE") == "C")
  }

  @Test("A deletion that fails during a cascade keeps every row and file")
  func failedCascadeKeepsRowsAndFiles() throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    let files = ExternalStorage(storeURL: stack.storeURL)
    try context.performAndWait {
      let image = Data(repeating: 7, count: 100_001)
      let parent = context.make("Node", ["name": "A", "image": image])
      let child = context.make("Leaf", ["name": "B", "parent": parent])
      _ = context.make("Note", ["name": "n", "node": child])
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute(
      "CREATE TRIGGER refuse BEFORE DELETE ON ZNOTE BEGIN SELECT RAISE(ABORT, 'kept'); END")
    connection.close()
    context.performAndWait {
      #expect(throws: NSError.self) { try delete("A", in: context) }
    }
    #expect(try names(stack, "ZNODE") == "AB")
    #expect(try names(stack, "ZNOTE") == "n")
    #expect(try files.fileNames().count == 1)
  }

  @Test("A chain of 2,000 objects is deleted completely")
  func deepChainIsDeletedCompletely() throws {
    let stack = try SharedStack(.sqlite, Self.model())
    let context = stack.context()
    try context.performAndWait {
      var last = context.make("Node", ["name": "A"])
      for _ in 1..<2_000 { last = context.make("Node", ["name": "n", "parent": last]) }
      try context.save()
      _ = try delete("A", in: context)
    }
    #expect(try names(stack, "ZNODE") == "")
  }
}
