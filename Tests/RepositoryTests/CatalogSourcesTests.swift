import Foundation
import Testing

@Suite("Behavior IDs of scenarios")
struct CatalogMarksTests {
  @Test func scenarioIDsAreInTheCatalog() throws {
    var marks: [String: String] = [:]
    for line in try Repository.lines(of: "Documentation/catalog.txt") {
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      if words.count > 1, words[0].hasPrefix("S") { marks[String(words[0])] = String(words[1]) }
    }
    for path in Repository.files(below: "Scenarios") where path.hasSuffix(".yml") {
      let lines = try Repository.lines(of: path)
      let source = lines.first { $0.hasPrefix("source:") }?.dropFirst(7)
        .trimmingCharacters(in: .whitespaces)
      guard let covers = lines.first(where: { $0.hasPrefix("covers:") }) else { continue }
      for match in covers.matches(of: /(S[\d.A-Z\-]+b?)(?:: (\w+))?/) {
        let mark = match.2.map(String.init) ?? source ?? "derived"
        #expect(marks[String(match.1)] == mark, "\(path): \(match.1)")
      }
    }
  }
}
