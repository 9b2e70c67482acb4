import OpenCoreData
import PostgresDriver
import PostgresStore
import Testing

@Suite("Other programs")
struct PsqlTests {
  @Test("psql reads what the store has written, and the store what psql has")
  func psqlReadsAndWrites() throws {
    let stack = try PostgresStack(SampleModels.company())
    let context = stack.context()
    try context.performAndWait {
      let sales = context.insert("Department", ["name": "Sales"])
      let skills = ["C", "SQL"].map { context.insert("Skill", ["name": $0]) }
      let ada = context.insert(
        "Manager",
        [
          "name": "Ada 'the \u{e9}lite'", "age": 36, "score": 1.5, "level": 2, "active": true,
          "wage": Decimal(string: "1234567890.25"), "department": sales,
          "hired": Date(timeIntervalSinceReferenceDate: 60),
        ])
      ada.setValue(Set(skills), forKey: "skills")
      context.insert("Person", ["name": "Ben", "boss": ada])
      try context.save()
    }
    let (uri, schema) = (TestServer.uri, stack.quoted)
    let people = try LocalServer.psql(
      uri,
      "SELECT p.name, p.age, p.score, p.level, p.active, p.wage, p.hired, d.name, e.z_name, b.name "
        + "FROM \(schema).\"Person\" p JOIN \(schema).z_entity e USING (z_ent) "
        + "LEFT JOIN \(schema).\"Department\" d ON d.z_pk = p.department "
        + "LEFT JOIN \(schema).\"Person\" b ON b.z_pk = p.boss ORDER BY p.name")
    #expect(
      people == [
        "Ada 'the \u{e9}lite'|36|1.5|2|t|1234567890.25|60|Sales|Manager|",
        "Ben||||||||Person|Ada 'the \u{e9}lite'",
      ])
    let skills = try LocalServer.psql(
      uri, "SELECT s.name FROM \(schema).\"Skill\" s ORDER BY s.name")
    #expect(skills == ["C", "SQL"])
    _ = try LocalServer.psql(
      uri, "UPDATE \(schema).\"Person\" SET age = 37, z_opt = z_opt + 1 WHERE level = 2")
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let ada = try #require(try cold.all("Manager").first)
      #expect((ada.value(forKey: "age") as? NSNumber)?.intValue == 37)
      #expect(ada.names("reports") == ["Ben"])
    }
  }

  @Test("Rows of two tables may have the same key")
  func equalKeys() throws {
    let stack = try PostgresStack(SampleModels.company())
    let connection = try TestServer.connection()
    let entities = ["Department", "Skill"]
    for entity in entities {
      try connection.execute(
        "INSERT INTO \(stack.quoted).\"\(entity)\" (z_pk, z_ent, z_opt, name) "
          + "SELECT 5, z_ent, 1, z_name FROM \(stack.quoted).z_entity WHERE z_name = '\(entity)'")
    }
    let context = try stack.coldContext()
    try context.performAndWait {
      let objects = try entities.map { try context.all($0)[0] }
      #expect(objects.map(\.name) == entities)
      for (version, object) in objects.enumerated() {
        object.setValue("mine", forKey: "name")
        try connection.execute(
          "UPDATE \(stack.quoted).\"\(entities[version])\" "
            + "SET z_opt = \(version + 7), name = 'of ' || name")
      }
      let error = #expect(throws: NSError.self) { try context.save() }
      let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      let found = (conflicts ?? []).map { conflict in
        "\(conflict.newVersionNumber) \(conflict.persistedSnapshot?["name"] ?? "")"
      }
      #expect(found.sorted() == ["7 of Department", "8 of Skill"])
    }
  }
}
