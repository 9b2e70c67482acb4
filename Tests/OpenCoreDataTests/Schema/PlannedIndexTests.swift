import SQLiteDriver
import Testing

@testable import OpenCoreData

/// The indexes of a new file, of which the costs of a migration don't create any.
struct PlannedIndexTests {
  private static let model = """
    <entity name="Tag"><attribute name="name" optional="YES" attributeType="String"/>
    <relationship name="notes" toMany="YES" optional="YES" destinationEntity="Note"
    inverseName="tags"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>
    </uniquenessConstraint></uniquenessConstraints></entity>
    <entity name="Note"><attribute name="date" optional="YES" attributeType="Date" indexed="YES"/>
    <attribute name="size" optional="YES" attributeType="Integer 64"/>
    <relationship name="tags" toMany="YES" optional="YES" destinationEntity="Tag"
    inverseName="notes"/>
    <relationship name="next" maxCount="1" optional="YES" destinationEntity="Note"/>
    <fetchIndex name="bySize" partialIndexPredicate="size &gt; 3">
    <fetchIndexElement property="size" type="Binary" order="descending"/>
    <fetchIndexElement property="date" type="Binary" order="ascending"/></fetchIndex>
    <fetchIndex name="inRange"><fetchIndexElement property="size" type="RTree"
    order="ascending"/></fetchIndex></entity>
    <entity name="Letter" parentEntity="Note"/>
    """

  @Test func plannedIndexesAreThoseOfAFile() throws {
    let schema = try ModelDocument.read(
      data: Data("<model>\(Self.model)</model>".utf8), file: "Test"
    ).schema()
    func indexes(
      _ statements: [String], adding planned: [SchemaIndex] = []
    ) throws -> [FileObjects.Index] {
      let connection = try Connection(path: ":memory:", access: .writing)
      defer { connection.close() }
      for statement in statements { try connection.execute(statement) }
      return try FileObjects(reading: connection, adding: planned).indexes
    }
    let created = try indexes(schema.statements)
    #expect(created.count >= 6)
    #expect(created.contains { $0.condition != nil } && created.contains { $0.isUnique })
    #expect(try indexes(schema.statementsWithoutIndexes).isEmpty)
    let planned = try indexes(schema.statementsWithoutIndexes, adding: schema.indexes)
    #expect(planned == created)
  }
}
