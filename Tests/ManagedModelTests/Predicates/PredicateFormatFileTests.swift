import ManagedModel
import Testing

/// The format strings seen in public code, one a line, in the shared data folder.
struct PredicateFormatFileTests {
  /// All lines are in the grammar. A line that stops parsing changes the number.
  static let parsing = 464

  @Test func everyPublicFormatParsesPrintsAndParsesAgain() throws {
    guard let formats = try SharedFormats.load() else { return }
    var parsed = 0
    for format in formats {
      do {
        let predicate = try NSPredicate.parse(format)
        parsed += 1
        let printed = predicate.predicateFormat
        let again = try NSPredicate.parse(printed)
        #expect(again == predicate, "\(format) → \(printed) → \(again.predicateFormat)")
        #expect(again.hash == predicate.hash, "\(format)")
        #expect(again.predicateFormat == printed, "\(format)")
      } catch {
        Issue.record("\(format)\n\(error)")
      }
    }
    #expect(parsed == Self.parsing)
    #expect(formats.count == Self.parsing)
  }
}

/// Finds the shared data folder.
enum SharedFormats {
  /// The lines of `predicate-formats.txt`, comments left out; nil where the folder is absent,
  /// which is a failure on CI.
  static func load() throws -> [String]? {
    let environment = ProcessInfo.processInfo.environment
    let package = URL(filePath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let folder = environment["CDPROF_SHARED"] ?? package + "/../shared"
    let file = URL(filePath: folder).appending(path: "data/predicate-formats.txt")
    guard FileManager.default.fileExists(atPath: file.path) else {
      if environment["CI"] == "true" { Issue.record("\(file.path) is missing") }
      print("skipped: \(file.path) is absent; set CDPROF_SHARED")
      return nil
    }
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map(String.init).filter { !$0.hasPrefix("#") && !$0.isEmpty }
  }
}
