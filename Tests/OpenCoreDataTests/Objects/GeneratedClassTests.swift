import CoreDataCosts
import ManagedModel
import Testing

@testable import OpenCoreData

/// The classes in `Generated` are what `cdprof generate` writes for the orchestra's model.
@Suite("Generated classes")
struct GeneratedClassTests {
  private func stack(_ kind: StoreKind) throws -> TestStack {
    OrchestraModel.registerClasses()
    return try TestStack(
      kind,
      model: NSManagedObjectModel.read(
        contentsOf: TestModels.root.appendingPathComponent(
          "Tests/ModelCodeTests/Models/Orchestra.xcdatamodel")))
  }

  @Test(arguments: StoreKind.allCases)
  func generatedPropertiesRoundTripInFixedSlots(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.coldContext()
    try context.performAndWait {
      let concert = Concert(context: context)
      #expect(concert.price == 0 && concert.default == nil && concert.temperature == nil)
      concert.cancelled = true
      concert.default = "a programme that is longer than 15 bytes"
      concert.doors = Date(timeIntervalSinceReferenceDate: 60)
      concert.identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
      concert.page = URL(string: "https://example.org")
      concert.picture = Data([1])
      concert.price = 12.5
      concert.rating = 0.5
      concert.setList = Data([2])
      concert.temperature = -1.5
      concert.seats = 80
      let musician = Musician(context: context)
      musician.name = "Clara"
      musician.desk = -3
      musician.plays_since = 1828
      let piece = Piece(context: context)
      #expect(piece.value == 7 && piece.seesItselfByName)
      piece.hashProperty = "fugue"
      piece.composer = musician
      try context.save()
      for object in [concert, musician, piece] { #expect(object.state.hasFixedSlots) }
      context.refreshAllObjects()
      #expect(concert.cancelled && concert.default == "a programme that is longer than 15 bytes")
      #expect(concert.doors == Date(timeIntervalSinceReferenceDate: 60))
      #expect(concert.identifier?.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
      #expect(concert.page?.absoluteString == "https://example.org")
      #expect(concert.picture == Data([1]) && concert.setList == Data([2]))
      #expect(concert.price == 12.5 && concert.rating == 0.5 && concert.temperature == -1.5)
      #expect(concert.seats == 0)
      #expect(musician.name == "Clara" && musician.desk == -3 && musician.plays_since == 1828)
      #expect(piece.hashProperty == "fugue" && piece.composer === musician)
      musician.plays_since = nil
      #expect(musician.changedValues().keys.sorted() == ["plays_since"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func requestsFetchTheirOwnClass(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.coldContext()
    try context.performAndWait {
      let musician = Musician(context: context)
      musician.name = "Fanny"
      try context.save()
      let persons: NSFetchRequest<Person> = Person.fetchRequest()
      let musicians: NSFetchRequest<Musician> = Musician.fetchRequest()
      #expect(try context.fetch(persons).first === musician)
      #expect(try context.fetch(musicians).first?.desk == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func addingReadsOnlyManyToManyRelationships(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.coldContext()
    try context.performAndWait {
      let (teacher, pupil) = (Musician(context: context), Musician(context: context))
      (teacher.name, pupil.name) = ("a", "b")
      let piece = Piece(context: context)
      try context.save()
      context.refreshAllObjects()
      _ = (teacher.name, pupil.name, piece.value)
      #expect(teacher.lazyPupils.isFault)
      #expect(costs(of: context) { teacher.addToPupils(pupil) }.selects == 0)
      #expect(pupil.teacher === teacher && teacher.lazyPupils.isFault)
      #expect(costs(of: context) { _ = teacher.pupils }.selects == stack.statements(1))
      #expect(teacher.pupils == [pupil])
      #expect(costs(of: context) { teacher.addToPieces(piece) }.selects == stack.statements(1))
      #expect(piece.lazyMusicians.contains(teacher) && teacher.lazyPieces.count == 1)
      try context.save()
      context.refreshAllObjects()
      #expect(costs(of: context) { teacher.removeFromPupils(pupil) }.selects == 0)
      #expect(pupil.teacher == nil && teacher.pupils.isEmpty)
      teacher.removeFromPupils(pupil)
      teacher.removeFromPieces([piece])
      try context.save()
      context.refreshAllObjects()
      #expect(piece.musicians.isEmpty && teacher.lazyPieces.isEmpty && teacher.pupils.isEmpty)
      pupil.pupils = [teacher]
      #expect(teacher.teacher === pupil && pupil.lazyPupils.map(\.name) == ["a"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func orderedRelationshipsAreArrays(kind: StoreKind) throws {
    let stack = try stack(kind)
    let context = try stack.coldContext()
    try context.performAndWait {
      let concert = Concert(context: context)
      let pieces = (0..<4).map { _ in Piece(context: context) }
      concert.pieces = [pieces[0]]
      concert.addToPieces([pieces[1], pieces[2]])
      concert.insertIntoPieces(pieces[3], at: 0)
      concert.removeFromPieces(pieces[1])
      #expect(concert.pieces == [pieces[3], pieces[0], pieces[2]])
      #expect(pieces[3].concerts == [concert] && pieces[1].concerts.isEmpty)
      try context.save()
      context.refreshAllObjects()
      #expect(Array(concert.lazyPieces) == [pieces[3], pieces[0], pieces[2]])
      concert.removeFromPieces(at: 0)
      #expect(concert.pieces == [pieces[0], pieces[2]])
      concert.insertIntoPieces([pieces[1], pieces[3]], at: [0, 2])
      #expect(concert.pieces == [pieces[1], pieces[0], pieces[3], pieces[2]])
      concert.removeFromPieces(at: [1, 3])
      #expect(concert.pieces == [pieces[1], pieces[3]])
      concert.replacePieces(at: [0, 1], with: [pieces[2], pieces[0]])
      try context.save()
      context.refreshAllObjects()
      #expect(concert.pieces == [pieces[2], pieces[0]] && pieces[1].concerts.isEmpty)
    }
  }
}

extension Piece {
  /// A property called `value` must not hide `value(forKey:)`.
  fileprivate var seesItselfByName: Bool {
    value(forKey: "value") as? Int32 == value
  }
}
