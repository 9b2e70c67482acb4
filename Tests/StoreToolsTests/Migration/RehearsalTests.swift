import FailingFiles
import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite("Rehearsals of migrations")
struct RehearsalTests {
  private typealias Fixture = MigrationFixture

  @Test("A way whose first step fails is summarized by all of its steps")
  func failedWayIsSummarized() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let unique = Fixture.model { $0.uniquenessConstraints = [["code"]] }
    let last = Fixture.model { mood in
      mood.uniquenessConstraints = [["code"]]
      mood.properties.append(Fixture.attribute("more"))
    }
    for (name, model) in [("Mood", Fixture.model()), ("Mood 2", unique), ("Mood 3", last)] {
      _ = try Fixture.write(
        ModelDocument.text(of: model).text, as: "Mood.xcdatamodeld/\(name).xcdatamodel",
        to: folder)
    }
    let rehearsal = try Fixture.rehearse(
      store, to: folder.file("Mood.xcdatamodeld").path, version: "Mood 3", isProgressive: true)
    #expect(rehearsal.steps.count == 1)
    let lines = MigrationText.lines(rehearsal)
    #expect(lines.first?.contains("2 steps, 2 inferred and 0 with a mapping model") == true)
    #expect(lines.contains("Mood to Mood 2, inferred:"))
  }

  @Test("A removed attribute is reported with the number of its values, and the store is unchanged")
  func lossesAreCounted() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let bytes = try Data(contentsOf: store)
    let path = try Fixture.write(
      Fixture.model { mood in mood.properties.removeAll { $0.name == "note" } }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(try Fixture.values(store, "SELECT count(ZNOTE) FROM ZMOOD") == [[.integer(4)]])
    #expect(rehearsal.losses == [.init(entity: "Mood", property: "note", values: 4)])
    #expect(!rehearsal.isPreserving)
    #expect(rehearsal.isPossible)
    #expect(rehearsal.doctor?.isIntact == true)
    let work = try #require(rehearsal.steps.first).work
    #expect(work.contains { $0.rows == 6 && $0.sql.contains("ZMOOD") })
    #expect(try Data(contentsOf: store) == bytes)
    #expect(MigrationText.lines(rehearsal).contains("  4 values of Mood.note"))
    let fields = try Fixture.fields(rehearsal)
    #expect(fields["refused"] is NSNull)
    #expect(fields["inferred"] as? Bool == true)
    #expect((fields["steps"] as? [Any])?.count == work.count)
    #expect((fields["lost"] as? [[String: Any]])?.first?["values"] as? Int == 4)
  }

  @Test("All violations are reported, not only the first")
  func violationsAreComplete() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { mood in
        mood.properties = [
          Fixture.attribute("note", isOptional: false), Fixture.attribute("code"),
          Fixture.attribute("rating", .integer16AttributeType),
        ]
        mood.uniquenessConstraints = [["code"]]
      }, to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: path, keepingAt: kept)
    let found = rehearsal.violations.map { "\($0.property) \($0.rows.map { "\($0)" } ?? "-")" }
      .sorted()
    #expect(found == ["code 3", "note 2", "rating 1"])
    #expect(!rehearsal.isPossible)
    #expect(!FileManager.default.fileExists(atPath: kept.path))
    let lines = MigrationText.lines(rehearsal)
    #expect(
      lines.contains {
        $0.contains("2 objects have no value for the required attribute Mood.note")
      })
    #expect(!lines.contains { $0.contains("same'") })
    #expect(
      MigrationText.lines(rehearsal, showsValues: true).contains("      'same' (3 objects)"))
    let json = String(decoding: try MigrationJSON.data(rehearsal), as: UTF8.self)
    #expect(!json.contains("'same'"))
    #expect(
      String(decoding: try MigrationJSON.data(rehearsal, showsValues: true), as: UTF8.self)
        .contains("'same' (3 objects)"))
  }

  @Test("A mapping model's violations are complete, and none follows from another one")
  func violationsOfMappingModelsAreComplete() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let next = Fixture.model { mood in
      mood.properties = [
        Fixture.attribute("note", isOptional: false), Fixture.attribute("code", isOptional: false),
        Fixture.attribute("rating", .integer16AttributeType, isOptional: false),
      ]
      mood.uniquenessConstraints = [["code"]]
    }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Fixture.model(), destinationModel: next)
    let trial = try MappedMigrationTrial(
      ofCopyAt: store, .sqlite,
      step: ProgressiveMigration.Step(
        from: ModelVersion(name: "1", model: Fixture.model()),
        to: ModelVersion(name: "2", model: next), mappingModels: [mapping]))
    let found = trial.violations.map { "\($0.entity).\($0.property) \($0.rows ?? -1)" }
    #expect(found.sorted() == ["Mood.code 2", "Mood.note 2", "Mood.rating 1"])
    #expect(
      trial.violations.contains {
        $0.reason.hasPrefix("2 migrated objects of Mood have the same values for code as another")
      })
  }

  @Test("A default value that isn't unique is a violation, with all objects that would have it")
  func defaultsThatAreNotUniqueAreViolations() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder) { $0.uniquenessConstraints = [["note"]] }
    let path = try Fixture.write(
      Fixture.model { mood in
        let note = Fixture.attribute("note", isOptional: false)
        note.defaultValue = "note 0"
        mood.properties = mood.properties.map { $0.name == "note" ? note : $0 }
        mood.uniquenessConstraints = [["note"]]
      }, to: folder)
    let violations = try Fixture.rehearse(store, to: path).violations
    #expect(violations.count == 1)
    let violation = try #require(violations.first)
    #expect(violation.entity == "Mood")
    #expect(violation.property == "note")
    #expect(violation.rows == 3)
    #expect(violation.samples == ["'note 0' (3 objects)"])
    #expect(
      violation.reason.hasPrefix(
        "3 objects have the same values for Mood.note, which must be unique; objects without a value get a "
          + "default value."))
  }

  @Test("A violated constraint of the file's CREATE TABLE is the only violation")
  func constraintsOfTablesAreViolatedOnce() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder) { $0.uniquenessConstraints = [["note"]] }
    let connection = try Connection(path: store.path, access: .writing)
    for statement in [
      "DROP INDEX Z_Mood_UNIQUE_note", "ALTER TABLE ZMOOD RENAME TO ZOLDER",
      "CREATE TABLE ZMOOD (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, "
        + "ZCODE VARCHAR, ZNOTE VARCHAR, CONSTRAINT ZNOTE UNIQUE (ZNOTE))",
      "INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT, ZRATING, ZCODE, ZNOTE) "
        + "SELECT Z_PK, Z_ENT, Z_OPT, ZRATING, ZCODE, ZNOTE FROM ZOLDER", "DROP TABLE ZOLDER",
    ] {
      try connection.execute(statement)
    }
    connection.close()
    let path = try Fixture.write(
      Fixture.model { mood in
        let note = Fixture.attribute("note", isOptional: false)
        note.defaultValue = "note 0"
        mood.properties = mood.properties.map { $0.name == "note" ? note : $0 }
        mood.properties.append(Fixture.attribute("mark", isOptional: false))
        mood.uniquenessConstraints = [["note"]]
      }, to: folder)
    let violations = try Fixture.rehearse(store, to: path).violations
    #expect(violations.map(\.property) == ["note", "mark"])
    #expect(violations.first?.reason.contains("which must be unique") == true)
    #expect(violations.last?.rows == 6)
  }

  @Test("Duplicates of an inherited attribute are those of all entities of the table")
  func inheritedDuplicatesAreCounted() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let dream = NSEntityDescription()
    dream.name = "Dream"
    dream.uniquenessConstraints = [["code"]]
    let version = Fixture.model()
    version.entitiesByName["Mood"]?.subentities = [dream]
    version.entities.append(dream)
    let rehearsal = try Fixture.rehearse(store, to: Fixture.write(version, to: folder))
    let violation = try #require(rehearsal.violations.first)
    #expect(violation.entity == "Dream" && violation.property == "code")
    #expect(violation.rows == 3)
    #expect(violation.samples == ["'same' (3 objects)"])
  }

  @Test("A change that can't be inferred is refused with the property and the reason")
  func refusalsNameTheProperty() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { mood in
        mood.properties = [
          Fixture.attribute("note", .dateAttributeType), Fixture.attribute("code"),
          Fixture.attribute("rating", .integer64AttributeType),
        ]
      }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(rehearsal.steps.isEmpty)
    #expect(!rehearsal.isPreserving)
    #expect(MigrationText.lines(rehearsal).contains { $0.contains("Mood.note") })
    let fields = try Fixture.fields(rehearsal)
    #expect((fields["refused"] as? String)?.contains("Mood.note") == true)
    #expect(fields["inferred"] as? Bool == false)
    let refusal = (fields["refusals"] as? [[String: Any]])?.first
    #expect(refusal?["entity"] as? String == "Mood")
    #expect(
      refusal?["leastChange"] as? String
        == "Leave the type of note, and add an attribute of the new type with another name, which your "
        + "code fills.")
  }

  @Test("The store itself is migrated after its rehearsal, with a backup")
  func originalIsMigrated() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { $0.properties.append(Fixture.attribute("place")) }, to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: path, keepingAt: kept)
    #expect(rehearsal.isPreserving)
    #expect(
      try Fixture.values(kept, "SELECT count(*), count(ZPLACE) FROM ZMOOD") == [
        [6, 0].map { .integer($0) }
      ])
    let backup = try #require(try rehearsal.migrateOriginal(keepsBackup: true))
    #expect(backup.lastPathComponent == "Moods~.sqlite")
    #expect(
      try Fixture.values(store, "SELECT count(*), count(ZPLACE) FROM ZMOOD") == [
        [6, 0].map { .integer($0) }
      ])
    #expect(try Fixture.values(backup, "SELECT count(*) FROM ZMOOD") == [[.integer(6)]])
    // A backup isn't replaced by another.
    let next = try Fixture.write(
      Fixture.model { $0.properties += [Fixture.attribute("place"), Fixture.attribute("time")] },
      to: folder)
    let second = try Fixture.rehearse(store, to: next).migrateOriginal(keepsBackup: true)
    #expect(second?.lastPathComponent == "Moods~2.sqlite")
    #expect(try Fixture.values(backup, "SELECT count(*) FROM ZMOOD") == [[.integer(6)]])
    let again = try Fixture.rehearse(store, to: next)
    #expect(again.isCurrent)
    #expect(again.isPreserving)
  }

  @Test("A copy of a store that already has the version is written, too")
  func currentStoreIsCopied() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(Fixture.model(), to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: path, keepingAt: kept)
    #expect(rehearsal.isCurrent)
    #expect(try Fixture.values(kept, "SELECT count(*) FROM ZMOOD") == [[.integer(6)]])
    #expect(try Fixture.values(store, "SELECT count(*) FROM ZMOOD") == [[.integer(6)]])
  }

  @Test("If the store has changed since its rehearsal and can't be migrated, no backup is left")
  func failedMigrationLeavesNoBackup() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { $0.uniquenessConstraints = [["note"]] }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(rehearsal.isPreserving)
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE ZMOOD SET ZNOTE = 'same'")
    connection.close()
    let error = #expect(throws: NSError.self) {
      try rehearsal.migrateOriginal(keepsBackup: true)
    }
    #expect(error?.code == NSMigrationError)
    #expect(!FileManager.default.fileExists(atPath: folder.file("Moods~.sqlite").path))
    #expect(
      try Fixture.values(store, "SELECT count(*) FROM ZMOOD WHERE ZNOTE = 'same'")
        == [[.integer(6)]])
  }

  @Test(
    "A backup that can't be completed isn't left behind, and the store isn't migrated",
    .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"))
  func incompleteBackupIsRemoved() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { $0.properties.append(Fixture.attribute("place")) }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    let bytes = try Data(contentsOf: store)
    // The first operations that need space are those of the backup: its file, and its bytes.
    for number in 1...2 {
      let (result, report) = FailingFiles.run(
        below: folder.url, failure: .init(.fullDisk, at: number, isPermanent: true)
      ) { try rehearsal.migrateOriginal(keepsBackup: true) }
      #expect(throws: (any Error).self, "\(report.firstFailure)") { try result.get() }
      #expect(!FileManager.default.fileExists(atPath: folder.file("Moods~.sqlite").path))
      #expect(try Data(contentsOf: store) == bytes)
    }
  }

  @Test("S14-9 M-28 An index that's added to the same version isn't created, which is a warning")
  func unchangedVersionGetsNoIndex() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { mood in
        mood.indexes = [
          NSFetchIndexDescription(
            name: "byNote",
            elements: mood.properties.filter { $0.name == "note" }.map {
              NSFetchIndexElementDescription(property: $0, collationType: .binary)
            })
        ]
      }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(rehearsal.isCurrent)
    #expect(rehearsal.isPreserving)
    #expect(rehearsal.warnings.count == 1)
    #expect(rehearsal.warnings.first?.contains("The index Mood.byNote isn't created") == true)
  }

  @Test("M-28 An index that's changed with a hash modifier is made again, without a warning")
  func changedIndexIsMadeAgain() throws {
    func index(_ names: [String], of mood: NSEntityDescription) {
      mood.indexes = [
        NSFetchIndexDescription(
          name: "byNote",
          elements: names.compactMap { mood.propertiesByName[$0] }.map {
            NSFetchIndexElementDescription(property: $0, collationType: .binary)
          })
      ]
    }
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder) { index(["note"], of: $0) }
    let unmodified = try Fixture.write(
      Fixture.model { index(["note", "code"], of: $0) }, to: folder)
    let current = try Fixture.rehearse(store, to: unmodified)
    #expect(current.isCurrent)
    #expect(current.warnings.count == 1)
    #expect(current.warnings.first?.contains("The index Mood.byNote isn't created") == true)
    let modified = try Fixture.write(
      Fixture.model {
        index(["note", "code"], of: $0)
        $0.versionHashModifier = "2"
      }, to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: modified, keepingAt: kept)
    #expect(!rehearsal.isCurrent)
    #expect(rehearsal.isPreserving)
    #expect(rehearsal.warnings.isEmpty)
    let columns = "SELECT name FROM pragma_index_info('Z_Mood_byNote') ORDER BY seqno"
    #expect(try Fixture.values(store, columns) == [[.text("ZNOTE")]])
    #expect(try Fixture.values(kept, columns) == [[.text("ZNOTE")], [.text("ZCODE")]])
  }

  /// Adds the derived attribute `short`, or one with that name that isn't derived.
  private func derive(
    _ expression: String?, modifier: String? = nil, of mood: NSEntityDescription
  ) {
    let derived = expression.map { expression in
      let derived = NSDerivedAttributeDescription()
      derived.derivationExpression = NSExpression(format: expression)
      return derived
    }
    let short = derived ?? NSAttributeDescription()
    (short.name, short.attributeType, short.isOptional) = ("short", .stringAttributeType, true)
    short.versionHashModifier = modifier
    mood.properties.append(short)
  }

  @Test("The warning about a derivation states whether the store still computes values")
  func unmigratedDerivationsAreWarnings() throws {
    func warnings(from former: String?, to later: String?) throws -> [String] {
      let folder = try TemporaryFolder()
      let store = try Fixture.store(folder) { derive(former, of: $0) }
      let rehearsal = try Fixture.rehearse(
        store, to: Fixture.write(Fixture.model { derive(later, of: $0) }, to: folder))
      #expect(rehearsal.isCurrent)
      return rehearsal.warnings
    }
    let end =
      ": the version hashes are the same, so the store isn't migrated. Give the attribute a hash modifier."
    #expect(
      try warnings(from: nil, to: "code") == [
        "The values of Mood.short stay as they are, and aren't computed (derivation from none to code)"
          + end
      ])
    #expect(
      try warnings(from: "code", to: nil) == [
        "The values of Mood.short are still computed by the store, although the attribute isn't derived "
          + "anymore (derivation from code to none)" + end
      ])
    #expect(
      try warnings(from: "code", to: "note") == [
        "The values of Mood.short are still computed as before (derivation from code to note)" + end
      ])
  }

  @Test("Derived values are computed again by a migration, and only by one")
  func derivedValuesAreComputedAgain() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder) { derive("canonical:(note)", of: $0) }
    let same = try Fixture.write(Fixture.model { derive("code", of: $0) }, to: folder)
    let current = try Fixture.rehearse(store, to: same)
    #expect(current.isCurrent)
    #expect(current.warnings.count == 1)
    #expect(
      current.warnings.first?.hasPrefix("The values of Mood.short are still computed as before")
        == true)
    let modified = try Fixture.write(
      Fixture.model { derive("code", modifier: "2", of: $0) }, to: folder)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: modified, keepingAt: kept)
    #expect(rehearsal.isPreserving)
    let difference = try #require(
      rehearsal.steps.first?.differences.first { $0.isOfDerivation })
    #expect(difference.path == "Mood.short")
    #expect(
      MigrationText.rule(of: difference)
        == "A migration recomputes all values. To require one, change the hash modifier.")
    let mismatches = "SELECT count(*) FROM ZMOOD WHERE ZSHORT IS NOT ZCODE"
    #expect(try Fixture.values(store, mismatches) == [[.integer(6)]])
    #expect(try Fixture.values(kept, mismatches) == [[.integer(0)]])
    #expect(
      try Fixture.values(
        kept, "SELECT DISTINCT instr(sql, 'ZNOTE') FROM sqlite_master WHERE type = 'trigger'")
        == [[.integer(0)]])
  }

  @Test("Problems that the store has before don't make a rehearsal fail")
  func formerFindingsAreKnown() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    connection.close()
    let path = try Fixture.write(
      Fixture.model { $0.properties.append(Fixture.attribute("place")) }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(rehearsal.doctor?.findings.map(\.rule) == [.primaryKeyCounter])
    #expect(!rehearsal.hasNewFindings)
    #expect(rehearsal.isPreserving)
    #expect(MigrationText.lines(rehearsal).contains { $0.contains("already has these findings") })
  }

  @Test(
    "The continents that a later version of a public model has no place for are counted",
    .enabled(if: SharedData.moodyStores != nil))
  func publicStoreLosesContinents() throws {
    let data = try #require(SharedData.moodyStores)
    let folder = try TemporaryFolder()
    let store = folder.file("Moody.sqlite")
    try FileManager.default.copyItem(at: data.appendingPathComponent("Moody.moody"), to: store)
    let model = data.deletingLastPathComponent().appendingPathComponent("Moody.xcdatamodeld")
    let lossless = try Fixture.rehearse(store, to: model.path, version: "Moody 2")
    #expect(lossless.isPreserving)
    let losing = try Fixture.rehearse(store, to: model.path, version: "Moody 5")
    #expect(
      losing.losses.filter {
        $0.entity == "Continent" && $0.property == nil || $0.property == "continent"
      }
        == [
          .init(entity: "Continent", property: nil, values: 2),
          .init(entity: "Country", property: "continent", values: 3),
        ])
  }
}
