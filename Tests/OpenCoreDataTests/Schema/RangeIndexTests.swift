import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("R-tree indexes are kept up to date; indexes of expressions are only in the model")
struct RangeIndexTests {
  private static let document = """
    <model><entity name="Place">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="north" optional="YES" attributeType="Double"/>
      <attribute name="east" optional="YES" attributeType="Double"/>
      <fetchIndex name="bounds"><fetchIndexElement property="north" type="RTree"/>
        <fetchIndexElement property="east" type="RTree"/></fetchIndex>
      <fetchIndex name="mixed"><fetchIndexElement property="north" type="RTree"/>
        <fetchIndexElement property="name" type="Binary"/></fetchIndex>
      <fetchIndex name="texts"><fetchIndexElement property="name" type="RTree"/></fetchIndex>
      <fetchIndex name="sum"><fetchIndexElement expression="north + east"
        expressionType="Double" type="Binary" order="ascending"/></fetchIndex>
    </entity></model>
    """

  @Test func rTreeIndexFollowsTheRows() throws {
    let model = try ModelDocument.read(data: Data(Self.document.utf8), file: "Places")
    let stack = try TestStack(model: model)
    let context = try stack.coldContext()
    try context.performAndWait {
      let places = [(1.5, 2.5), (10, 20), (30, 40)].map { north, east in
        let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
        place.setValue(north, forKey: "north")
        place.setValue(east, forKey: "east")
        return place
      }
      _ = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
      try context.save()
      places[0].setValue(5.0, forKey: "north")
      places[1].setValue(nil, forKey: "east")
      context.delete(places[2])
      try context.save()
    }
    let connection = try Connection(path: stack.storeURL.path, access: .inspecting)
    defer { connection.close() }
    #expect(
      try connection.values("SELECT sql FROM sqlite_master WHERE name = 'Z_RT_Place_bounds'") == [
        [
          .text(
            "CREATE VIRTUAL TABLE Z_RT_Place_bounds USING RTREE (Z_PK INTEGER PRIMARY KEY, "
              + "ZNORTH_MIN FLOAT, ZNORTH_MAX FLOAT, ZEAST_MIN FLOAT, ZEAST_MAX FLOAT)")
        ]
      ])
    #expect(
      try connection.values(
        "SELECT p.ZNORTH, p.ZEAST FROM Z_RT_Place_bounds r JOIN ZPLACE p ON p.Z_PK = r.Z_PK "
          + "WHERE r.ZNORTH_MIN >= 0 AND r.ZNORTH_MAX <= 60") == [[.real(5), .real(2.5)]])
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]])
    let made = try connection.values(
      "SELECT name FROM sqlite_master WHERE name LIKE 'Z_Place_%' AND name NOT LIKE '%bounds%'")
    #expect(made.isEmpty)
    let place = try #require(model.entitiesByName["Place"])
    #expect(place.indexes.map(\.name) == ["bounds", "mixed", "texts", "sum"])
    #expect(place.indexes[3].elements[0].property is NSExpressionDescription)
  }
}
