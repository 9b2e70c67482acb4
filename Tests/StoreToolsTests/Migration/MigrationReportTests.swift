import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite("The page of a migration's rehearsal")
struct MigrationReportTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func model(_ names: [String], isUnique: Bool = false) -> NSManagedObjectModel {
    let mood = NSEntityDescription()
    mood.name = "Mood"
    mood.properties = names.map { name in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
      return attribute
    }
    if isUnique { mood.uniquenessConstraints = [["note"]] }
    let model = NSManagedObjectModel()
    model.entities = [mood]
    return model
  }

  /// Rehearses the migration of a store with three moods with the same note.
  private func rehearse(
    _ after: NSManagedObjectModel, store name: String = "Moods.sqlite",
    model: String = "New.xcdatamodel"
  ) throws -> MigrationRehearsal {
    let url = folder.file(name)
    let before = Self.model(["note", "place"])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: before)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue("<i>private</i>", forKey: "note")
        mood.setValue("here", forKey: "place")
      }
      try context.save()
    }
    try coordinator.remove(store)
    let document = folder.file(model)
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data(ModelDocument.text(of: after).text.utf8)
      .write(to: document.appendingPathComponent("contents"))
    let route = try MigrationRoute(of: url.path, to: FoundModel(path: document.path))
    return try MigrationRehearsal(route, MigrationRehearsal.Options(factors: [2, 4]))
  }

  @Test("The page shows what is lost, possible renames, the steps with their SQL, and the growth")
  func pageShowsTheRehearsal() throws {
    let rehearsal = try rehearse(Self.model(["note", "places"]))
    let page = try MigrationReport.page(rehearsal, command: "cdprof migrate Moods.sqlite --to New")
    for text in [
      "Moods.sqlite → New", "loses 3 values", "<li>3 values of Mood.place</li>",
      "set its renaming identifier to place", "Each step", "the store&#39;s version to New",
      "ALTER TABLE", "each object 4 times", "<td class=\"num\">12</td>", "debug build",
      "cdprof migrate Moods.sqlite --to New",
    ] {
      #expect(page.contains(text), "\(text) is missing")
    }
    let kept = try MigrationReport.page(
      rehearse(
        Self.model(["note", "place", "added"]), store: "Others.sqlite", model: "B.xcdatamodel"),
      command: "")
    #expect(kept.contains("everything is preserved") && !kept.contains("class=\"issues\""))
    // With --in-place, the store is migrated after the rehearsal.
    #expect(kept.contains("The rehearsal migrated a copy, not the store."))
  }

  @Test("A step that fails before its first statement has no table of statements")
  func stepWithoutStatementsHasNoTable() throws {
    let page = try MigrationReport.page(
      rehearse(Self.model(["note", "place"], isUnique: true)), command: "")
    #expect(page.contains("Inferred: 0 statements"))
    #expect(page.contains("<h4>Statements</h4>\n<p class=\"soft\">none ran</p>"))
    #expect(!page.contains("<tbody></tbody>"))
  }

  @Test("The page of a document, which has no statements, shows passes over instances")
  func pageOfADocumentHasPasses() throws {
    let versions = [Self.model(["note"]), Self.model(["note", "place"])]
    let url = folder.file("Moods.xml")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[0])
    let store = try coordinator.addPersistentStore(type: .xml, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
      mood.setValue("note", forKey: "note")
      try context.save()
    }
    try coordinator.remove(store)
    for (name, model) in zip(["Mood", "Mood 2"], versions) {
      let document = folder.file("Mood.xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
      try Data(ModelDocument.text(of: model).text.utf8)
        .write(to: document.appendingPathComponent("contents"))
    }
    let route = try MigrationRoute(
      of: url.path,
      to: FoundModel(path: folder.file("Mood.xcdatamodeld").path, version: "Mood 2"))
    let page = try MigrationReport.page(
      MigrationRehearsal(route, MigrationRehearsal.Options(factors: [])), command: "")
    #expect(page.contains("Inferred, by copy: 3 passes write 1 row in "))
    #expect(page.contains("<h4>Passes</h4>") && !page.contains("<h4>Statements</h4>"))
    #expect(page.contains("data-name=\"instances\">1<"))
  }

  @Test("Values are shown only if they're requested, and are escaped")
  func valuesArePrivate() throws {
    let rehearsal = try rehearse(Self.model(["note", "place"], isUnique: true))
    let page = try MigrationReport.page(rehearsal, command: "")
    #expect(page.contains("3 objects have the same values for Mood.note"))
    #expect(!page.contains("private"))
    let open = try MigrationReport.page(rehearsal, command: "", showsValues: true)
    #expect(open.contains("&lt;i&gt;private&lt;/i&gt;") && !open.contains("<i>private"))
  }

  @Test("Names can't add elements, scripts, or control sequences to the page or the text")
  func namesAreEscaped() throws {
    let rehearsal = try rehearse(
      Self.model(["note"]), store: "<img src=x onerror=alert(1)>\u{1B}[2J.sqlite",
      model: "<b>New\u{202E}.xcdatamodel")
    let page = try MigrationReport.page(rehearsal, command: "<script>alert(1)")
    #expect(!page.contains("<img") && !page.contains("<b>") && !page.contains("<script"))
    #expect(page.contains("&lt;img src=x onerror=alert(1)&gt;"))
    #expect(!page.contains("\u{1B}") && !page.contains("\u{202E}"))
    #expect(page.contains("script-src 'none'"))
    let text = MigrationText.lines(rehearsal).joined(separator: "\n")
    #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
    let json = String(decoding: try MigrationJSON.data(rehearsal), as: UTF8.self)
    #expect(!json.contains("\u{1B}") && !json.contains("\u{202E}"))
  }

  @Test("Tables have headings, sections have names, and links lead to elements of the page")
  func pageIsAccessible() throws {
    let page = try MigrationReport.page(rehearse(Self.model(["note"])), command: "")
    for match in page.matches(of: /<th\b([^>]*)>/) {
      #expect(match.1.contains("scope=\"col\"") || match.1.contains("scope=\"row\""))
    }
    for match in page.matches(of: /<section\b([^>]*)>/) { #expect(match.1.contains("aria-label")) }
    let pictures = page.matches(of: /<svg\b[^>]*>(.{7})/)
    #expect(pictures.count == 1 && pictures.allSatisfy { $0.1 == "<title>" })
    let ids = page.matches(of: /\bid="([^"]*)"/).map { String($0.1) }
    #expect(Set(ids).count == ids.count)
    for match in page.matches(of: /(?:href="#|aria-labelledby=")([^"]*)"/) {
      #expect(ids.contains(String(match.1)), "no element has the ID \(match.1)")
    }
    #expect(!page.contains("style=\""))
  }

  @Test(
    "The page opens without errors, and nothing is wider than a phone",
    .enabled(if: Chromium.isExpected))
  func pageOpensInABrowser() throws {
    let page = try MigrationReport.page(rehearse(Self.model(["note"])), command: "")
    let opened = try Chromium(opening: page, width: 500)
    #expect(opened.console == [])
    #expect(opened.elements.contains("Time by rows"))
  }

  @Test("On paper, no table is wider than a sheet of A4", .enabled(if: Chromium.isExpected))
  func pageFitsASheet() throws {
    // The policy allows only the page's own style sheet.
    let printed = try MigrationReport.page(rehearse(Self.model(["note"])), command: "")
      .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
      .replacing("@media screen", with: "@media not all")
      .replacing("@media print", with: "@media all")
    #expect(try Chromium.excess(of: printed, at: [688]) == [0])
  }

  @Test("A page replaces only a page that cdprof wrote")
  func otherFilesAreKept() throws {
    let rehearsal = try rehearse(Self.model(["note"]))
    let reports = folder.file("Reports")
    let first = try MigrationReport.write(rehearsal, in: reports, command: "")
    #expect(first.lastPathComponent == "Moods-migration.html")
    _ = try MigrationReport.write(rehearsal, in: reports, command: "")
    try Data("mine".utf8).write(to: first)
    #expect(throws: InvalidInputError.self) {
      try MigrationReport.write(rehearsal, in: reports, command: "")
    }
    #expect(try Data(contentsOf: first) == Data("mine".utf8))
    _ = try MigrationReport.write(rehearsal, in: reports, command: "", force: true)
    #expect(try Data(contentsOf: first).count > 4)
  }
}
