import Foundation
import Testing

@Suite("Sources of behavior IDs in scenarios")
struct CatalogSourcesTests {
  @Test func sourcesOfScenariosMatchTheCatalog() throws {
    var sources: [String: String] = [:]
    for line in try Repository.lines(of: "Documentation/catalog.txt") {
      let columns = line.split(separator: " ", omittingEmptySubsequences: true)
      if columns.count > 1, columns[0].hasPrefix("S") {
        sources[String(columns[0])] = String(columns[1])
      }
    }
    for path in Repository.files(below: "Scenarios") where path.hasSuffix(".yml") {
      let lines = try Repository.lines(of: path)
      let source = lines.first { $0.hasPrefix("source:") }?.dropFirst(7)
        .trimmingCharacters(in: .whitespaces)
      guard let covers = lines.first(where: { $0.hasPrefix("covers:") }) else { continue }
      for match in covers.matches(of: /(S[\d.A-Z\-]+b?)(?:: (\w+))?/) {
        let expected = match.2.map(String.init) ?? source ?? "derived"
        #expect(sources[String(match.1)] == expected, "\(path): \(match.1)")
      }
    }
  }
}
