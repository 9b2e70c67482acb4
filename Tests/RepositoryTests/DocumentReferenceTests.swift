import Foundation
import Testing

@Suite("References in documents exist")
struct DocumentReferenceTests {
  /// Checks words in backticks that look like paths of this repository.
  @Test(arguments: ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "DEVIATIONS.md"])
  func everyReferencedPathExists(document: String) throws {
    let tops = [
      "Sources", "Tests", "Scripts", "Scenarios", "Documentation", "Benchmarks", "Examples",
      "Integrations", "Reports", ".ci",
    ]
    let text = try Repository.text(of: document)
    let words = text.matches(of: /`([\w.+\/-]+\/[\w.+\/-]*)`/).map { String($0.1) }
    let paths = words.filter { word in
      word.split(separator: "/").first.map { tops.contains(String($0)) } == true
    }
    for path in paths {
      #expect(Repository.has(path), "\(document) refers to \(path), which doesn't exist")
    }
    // README.md links to files, and DEVIATIONS.md names tests without their files.
    #expect(paths.count > 5 || ["README.md", "DEVIATIONS.md"].contains(document))
  }

  /// Checks all scenarios, including those in commands.
  @Test(arguments: Documents.all)
  func everyNamedScenarioExists(document: String) throws {
    for match in try Repository.text(of: document).matches(of: /Scenarios\/[\w.+\/-]+/) {
      let path = String(match.0).trimmingCharacters(in: CharacterSet(charactersIn: "."))
      #expect(Repository.has(path), "\(document) refers to \(path), which doesn't exist")
    }
  }

  /// A page refers to source files by path or only by name.
  @Test(arguments: Documents.all)
  func everyNamedSwiftFileExists(document: String) throws {
    for match in try Repository.text(of: document).matches(of: /`([\w.+\/]+\.swift)`/) {
      let name = (String(match.1) as NSString).lastPathComponent
      #expect(Self.swiftFiles.contains(name), "\(document): \(match.1) doesn't exist")
    }
  }

  /// The names of all Swift files, including those of the other packages, and the examples of
  /// names.
  private static let swiftFiles: Set<String> = {
    let folders = ["Sources", "Tests", "Benchmarks", "Examples", "Integrations"]
    let names = folders.flatMap(Repository.files(below:)).map { ($0 as NSString).lastPathComponent }
    return Set(names).union([
      "Package.swift", "Type+Flow.swift", "Mood+CoreDataClass.swift",
      "Mood+CoreDataProperties.swift", "MoodyModel.swift",
    ])
  }()

  /// A step of a walkthrough names a file and one of its declarations: `` `File.swift`, `name` ``.
  @Test func everyWalkStepNamesADeclarationOfItsFile() throws {
    let text = try Repository.text(of: "ARCHITECTURE.md")
    let walkthroughs = text.components(separatedBy: "\n### ").dropFirst()
      .map { $0.components(separatedBy: "\n## ")[0] }
    #expect(walkthroughs.count == 4)
    for walkthrough in walkthroughs {
      let steps = walkthrough.matches(of: /`([\w+]+\.swift)`,\s`(\w+)`/)
      #expect((6...8).contains(steps.count), "\(walkthrough.prefix { $0 != "\n" })")
      for step in steps {
        let file = Repository.sources.first { $0.path.hasSuffix("/\(step.1)") }
        let declaration = try Regex("\\b(?:func|struct|class|enum|extension) \(step.2)\\b")
        #expect(
          file?.code.contains { $0.contains(declaration) } == true,
          "\(step.1) doesn't declare \(step.2)")
      }
    }
  }

  /// The last column of DEVIATIONS.md contains test functions, or – if there are none.
  @Test func everyDeviationHasATest() throws {
    let functions = Set(
      Repository.allTests.flatMap { file in
        file.codeText.matches(of: /func (\w+)/).map { String($0.1) }
      })
    var rows = 0
    for line in try Repository.lines(of: "DEVIATIONS.md") where line.hasPrefix("| ") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[0] != "difference", !cells[0].hasPrefix("---") else { continue }
      rows += 1
      let tests = cells[2].matches(of: /`(\w+)`/).map { String($0.1) }
      #expect(!tests.isEmpty || cells[2] == "–", "no test for: \(cells[0])")
      for test in tests where !functions.contains(test) {
        Issue.record("DEVIATIONS.md refers to the test \(test), which doesn't exist")
      }
    }
    #expect(rows > 10)
  }

  @Test func catalogHasUniqueIDsWithSourceAndDescription() throws {
    let rows = try Repository.lines(of: "Documentation/catalog.txt")
      .filter { !$0.hasPrefix("#") && !$0.isEmpty }
      .map { $0.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true) }
    #expect(rows.count == 539)
    #expect(Set(rows.map { $0[0] }).count == rows.count)
    for row in rows {
      #expect(["book", "derived", "apple", "ours"].contains(row[1]), "\(row[0])")
      #expect(row.count == 3 && row[2].count <= 90, "\(row[0])")
    }
  }

  /// Runs the script of `make catalog` on a temporary folder.
  @Test func catalogScriptCountsOnlyScenariosAndTests() throws {
    let tree = try CatalogTree()
    let marks = String(repeating: "\"", count: 3)
    defer { tree.remove() }
    try tree.write(
      "Scenarios/a.yml",
      "name: a\ncovers: [S6.01,  # S6.05\n  S6.03]\nstory: S6.04\nsteps: []\n")
    try tree.write("Scenarios/b.yaml", "covers:\n  - S10-1: derived\nname: b\n")
    try tree.write(
      "Tests/ATests.swift",
      """
      @Test("S6.11 S6.12, S-C33: three at once") func a() {} // "S6.06"
      @Test("a fault (S6.07)", arguments: ["S12-23b"]) func b() {}
      @Test("S6.08", .disabled("why")) func c() {}
      let fixture = Cover(id: "S6.14") + Cover("S6.16") + "S6.17"
      covers: ["S6.18"]
      @Test(
        "S6.24 on a line of its own",
        arguments: [("S6.25 one", 1), ("S6.27", 2)])
      /* "S6.09" */ let text = \(marks)
        "S6.10"
        \(marks)
      """)
    let result = try tree.run("--where")
    // One string that starts with another word, so the script doesn't count these IDs as covered.
    let ids = result.output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
    #expect(
      "found " + ids.joined(separator: " ")
        == "found S6.01 S6.03 S6.11 S6.12 S6.24 S6.25 S6.27 S10-1 S12-23b S-C33")
    #expect(result.output.hasPrefix("10 of 539 covered\n"))
    #expect(result.status == 0)

    try tree.write("Scenarios/c.yml", "covers: [S6.99]\n")
    let unknown = try tree.run("")
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("Scenarios/c.yml:1: S6.99 is not in the catalog"))
  }

  @Test func everyNamedIDIsInTheCatalog() throws {
    let result = try CatalogTree.run(root: Repository.root, "--where")
    #expect(result.status == 0, "\(result.errors)")
  }
}
