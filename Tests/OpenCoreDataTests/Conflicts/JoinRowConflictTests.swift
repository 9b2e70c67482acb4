import OpenCoreData
import Testing

@Suite("Conflicts of objects in many-to-many relationships")
struct JoinRowConflictTests {
  /// Saves an article with the first of two tags, changes its string, or the names of the tags,
  /// after another context has changed them, and has that context save with the rollback policy.
  ///
  /// - Parameters:
  ///   - tagsConflict: Whether the tags are the objects in conflict.
  ///   - counts: The number of articles of each tag in the store afterward.
  ///   - change: Receives the other context's article and tags, whose relationships were read.
  ///   - check: Receives the same objects after the save.
  private func resolve(
    _ kind: StoreKind, tagsConflict: Bool = false, counts: [Int] = [1, 0],
    _ change: (NSManagedObject, [NSManagedObject]) -> Void,
    _ check: (NSManagedObject, [NSManagedObject]) -> Void
  ) throws {
    let stack = try SharedStack(kind, TestModels.library())
    let (first, second) = (stack.context(), stack.context(.rollback))
    try first.performAndWait {
      let article = first.make("Article", ["string": "old"])
      let tags = ["A", "B"].map { first.make("Tag", ["name": $0]) }
      article.setValue(Set([tags[0]]), forKey: "tags")
      try first.save()
      try second.performAndWait {
        let theirs = second.twin(of: article)
        let twins = tags.map(second.twin)
        #expect(twins.map { $0.set("articles").count } == [1, 0])
        change(theirs, twins)
        second.processPendingChanges()
        if tagsConflict {
          for tag in tags { tag.setValue("new", forKey: "name") }
        } else {
          article.setValue("new", forKey: "string")
        }
        try first.save()
        try second.save()
        check(theirs, twins)
      }
    }
    let third = stack.context()
    try third.performAndWait {
      let found = try third.everyObject(of: "Tag")
      #expect(found.map { $0.set("articles").count } == counts)
      let articles = try third.everyObject(of: "Article")
      #expect(articles.first?.set("tags") == Set(found.filter { !$0.set("articles").isEmpty }))
    }
  }

  @Test(
    "Discarded changes of the end that writes the join rows are discarded at the other end",
    arguments: StoreKind.allCases)
  func discardedChangesAreUndoneAtTheOtherEnd(kind: StoreKind) throws {
    try resolve(kind) { article, tags in
      article.setValue(Set([tags[1]]), forKey: "tags")
    } _: { article, tags in
      #expect(article.set("tags") == [tags[0]])
      #expect(tags.map { $0.set("articles") } == [[article], []])
    }
  }

  @Test(
    "An object that isn't deleted because its row has changed stays at the other end",
    arguments: StoreKind.allCases)
  func keptObjectStaysAtTheOtherEnd(kind: StoreKind) throws {
    try resolve(kind) { article, _ in
      article.managedObjectContext?.delete(article)
    } _: { article, tags in
      #expect(!article.isDeleted && article.set("tags") == [tags[0]])
      #expect(tags[0].set("articles") == [article])
    }
  }

  @Test(
    "Changes at the end that doesn't write the join rows are the other end's, which keeps them",
    arguments: StoreKind.allCases)
  func changesAreKeptByTheEndThatWritesThem(kind: StoreKind) throws {
    try resolve(kind, tagsConflict: true, counts: [0, 1]) { article, tags in
      tags[0].setValue(Set<NSManagedObject>(), forKey: "articles")
      tags[1].setValue(Set([article]), forKey: "articles")
    } _: { article, tags in
      #expect(article.set("tags") == [tags[1]])
      #expect(tags.map { $0.set("articles") } == [[], [article]])
    }
  }

  @Test(
    "An object that isn't deleted because its row has changed stays at the end that writes them",
    arguments: StoreKind.allCases)
  func keptObjectStaysAtTheEndThatWrites(kind: StoreKind) throws {
    try resolve(kind, tagsConflict: true) { _, tags in
      tags[0].managedObjectContext?.delete(tags[0])
    } _: { article, tags in
      #expect(!tags[0].isDeleted && tags[0].value(forKey: "name") as? String == "new")
      #expect(article.set("tags") == [tags[0]] && tags[0].set("articles") == [article])
    }
  }

  @Test(
    "What the end that writes them had changed before such a deletion is kept",
    arguments: StoreKind.allCases)
  func earlierChangesAreKeptByTheEndThatWrites(kind: StoreKind) throws {
    try resolve(kind, tagsConflict: true, counts: [0, 0]) { article, tags in
      article.setValue(Set<NSManagedObject>(), forKey: "tags")
      tags[0].managedObjectContext?.delete(tags[0])
    } _: { article, tags in
      #expect(!tags[0].isDeleted && article.set("tags").isEmpty)
      #expect(tags[0].set("articles").isEmpty)
    }
  }
  @Test("A deletion that wins deletes all join rows of a relationship that's its own inverse")
  func deletionDeletesBothDirections() throws {
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.isOptional = true
    let person = NSEntityDescription()
    person.name = "Person"
    let peers = NSRelationshipDescription()
    peers.name = "peers"
    peers.destinationEntity = person
    peers.inverseRelationship = peers
    peers.isOptional = true
    peers.minCount = 0
    peers.maxCount = 0
    peers.deleteRule = .nullifyDeleteRule
    person.properties = [name, peers]
    let model = NSManagedObjectModel()
    model.entities = [person]
    let stack = try SharedStack(.sqlite, model)
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let people = ["p", "q"].map { first.make("Person", ["name": $0]) }
      try first.save()
      try second.performAndWait {
        let twins = people.map(second.twin)
        twins[0].setValue("changed", forKey: "name")
        #expect(twins[0].set("peers").isEmpty)
        second.delete(twins[1])
        second.processPendingChanges()
        people[0].setValue(Set([people[1]]), forKey: "peers")
        try first.save()
        try second.save()
        #expect(!second.hasChanges)
      }
    }
    #expect(try FailureFixture.findings(stack.storeURL) == [])
  }
}
